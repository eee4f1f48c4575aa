"""The shelf application: read how a shelf is organised and place a new object consistently with it (OMAR)."""
