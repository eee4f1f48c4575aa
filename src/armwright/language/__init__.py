"""Sentences to scenes, primitives and affordance queries."""

from armwright.language.parser import Parser, make_parser, parse, parser_names, register_parser

__all__ = ["Parser", "make_parser", "parse", "parser_names", "register_parser"]
