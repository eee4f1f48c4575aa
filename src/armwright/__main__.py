"""Run ``python -m armwright``."""

from armwright.cli.main import main

main()
