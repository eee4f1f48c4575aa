"""The catalogue's entries, family by family: light to import, for language and scenes."""
