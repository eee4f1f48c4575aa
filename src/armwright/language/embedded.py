"""The built-in parser: a grammar over the words of the catalog, with text embeddings for words outside it."""

from __future__ import annotations

from armwright.assets.scene import ObjectSpec, ParsedTask, Relation, SceneSpec
from armwright.core.errors import UsageError
from armwright.core.task import AffordanceQuery, Primitive
from armwright.language import lexicon as lex
from armwright.language._chunks import Chunker
from armwright.language._clauses import ClauseReader
from armwright.language._compile import Compiler
from armwright.language._items import Token, tokenize
from armwright.language._noun_phrases import NounPhraseReader
from armwright.language._referents import Entity, TableType
from armwright.language.checks import MAX_OBJECTS
from armwright.language.queries import queries_for
from armwright.language.vocabulary import default_vocabulary

TABLE_ID = "table"
"""Id of the table in ``Primitive.target``; it is no object of the scene."""
_ZERO = ("0", "zero")


class EmbeddedParser:
    """Understands English instructions about the catalog's objects, offline (AffordSim §3.1, without a model)."""

    name = "embedded"

    def parse(self, sentence: str) -> ParsedTask:
        """Return scene, primitives and queries of a sentence.

        Raises:
            UsageError: The text is empty, not English, has no verb the robot knows, names an unknown object, or asks
                for something impossible.
        """
        tokens = tokenize(sentence)
        words = [token for token in tokens if token.is_word]
        if not words:
            counted = any(token.text[-1].isdigit() for token in tokens)
            what = f"there is no word in {sentence!r}" if counted else f"the text {sentence!r} is empty"
            raise UsageError(f"{what}.", hint='Say for example: "put the banana in the bowl".')
        vocabulary = default_vocabulary()
        reader = NounPhraseReader(vocabulary, nearest=vocabulary.nearest)
        chunker = Chunker(tokens, reader)
        items = chunker.run()
        _require_english(sentence, tokens, chunker.unknown)
        _refuse_conditions(sentence, tokens, chunker.conditions)
        clauses = ClauseReader(items)
        ordered = clauses.run()
        if not any(clause.kind != "describe" for clause in ordered):
            raise _no_verb(sentence, tokens, said_not=bool(clauses.rejected))
        compiler = Compiler(suggest=vocabulary.suggestions)
        compiler.run(ordered, early=clauses.early)
        if not compiler.steps:
            raise _no_verb(sentence, tokens)
        named = [item.np for item in items if item.np is not None]
        unknown = chunker.unknown | chunker.imprecise | compiler.talk.idle_ordinals(named)
        moved = {step.spot for step in compiler.steps}
        for start, end in (np.tokens for np in named if np.spot is not None and np.spot not in moved):
            unknown |= {k for k in range(start, end) if tokens[k].text in lex.DRAWER_SPOTS}
        for start, end in [*clauses.rejected, *compiler.rejected]:
            unknown |= set(range(start, end))
        return _finish(sentence, compiler, _fragments(sentence, tokens, unknown))


def _require_english(sentence: str, tokens: list[Token], unknown: set[int]) -> None:
    words = [token.text for token in tokens if token.is_word]
    foreign = sum(word in lex.FOREIGN or not word.isascii() for word in words)
    not_known = sum(tokens[k].is_word for k in unknown)
    if not foreign and not_known * 2 > len(words):
        raise UsageError(
            f"most of the words in {sentence!r} are not known, so that it cannot be told what to do.",
            hint='Say in English what to do with which things, for example: "put the banana in the bowl".',
        )
    if foreign * 3 >= len(words) or not_known * 2 > len(words):
        raise UsageError(
            f"the text {sentence!r} is not English as far as can be told.",
            hint='Only English is understood; say for example: "put the banana in the bowl".',
        )


def _refuse_conditions(sentence: str, tokens: list[Token], conditions: list[tuple[int, int]]) -> None:
    for start, end in conditions:
        said = sentence[tokens[start].start : tokens[end - 1].end]
        raise UsageError(
            f"{said!r} is a condition, and none is tested: nothing is done of the text.",
            hint="Say what to do without it. An order can be said: 'then', 'before', 'after', 'once it is closed'.",
        )


def _no_verb(sentence: str, tokens: list[Token], *, said_not: bool = False) -> UsageError:
    if said_not:
        none = next((token.text for token in tokens if token.text in _ZERO), None)
        if none is not None:
            return UsageError(
                f"{none!r} in {sentence!r} is no number of things to act on.", hint=f"Say one from 1 to {MAX_OBJECTS}."
            )
        return UsageError(f"{sentence!r} only says what not to do.", hint="Say what to do instead.")
    named = next((token.text for token in tokens if token.text in lex.UNSUPPORTED_VERBS), None)
    what = f"{named!r} is not among the things the robot can do" if named else f"nothing to do in {sentence!r}"
    return UsageError(f"{what}.", hint="It can pick, place, pour, push, pull, open, close, hang and hold.")


def _fragments(sentence: str, tokens: list[Token], unknown: set[int]) -> tuple[str, ...]:
    """Return the stretches of the sentence that the given tokens cover, verbatim."""
    found: list[str] = []
    start: int | None = None
    for k in range(len(tokens) + 1):
        if k < len(tokens) and k in unknown:
            start = k if start is None else start
        elif start is not None:
            found.append(sentence[tokens[start].start : tokens[k - 1].end])
            start = None
    return tuple(found)


def _finish(sentence: str, compiler: Compiler, not_understood: tuple[str, ...]) -> ParsedTask:
    ids: dict[int, str] = {}
    counts: dict[str, int] = {}
    for entity in compiler.talk.entities:
        counts[entity.category] = counts.get(entity.category, 0) + 1
        ids[id(entity)] = f"{entity.category}_{counts[entity.category]}"

    def name(thing: Entity | TableType | None) -> str | None:
        return TABLE_ID if isinstance(thing, TableType) else None if thing is None else ids[id(thing)]

    primitives = tuple(
        Primitive(
            name=s.name,
            object=ids[id(s.object)],
            target=name(s.target),
            relation=s.relation,
            spot=s.spot,
            distance_m=s.distance_m,
        )
        for s in compiler.steps
    )
    entities = compiler.talk.entities
    queries: tuple[AffordanceQuery, ...] = queries_for(
        primitives,
        categories={ids[id(e)]: e.category for e in entities},
        stated={ids[id(e)]: e.part for e in entities if e.part},
    )
    scene = SceneSpec(
        objects=tuple(
            ObjectSpec(id=ids[id(e)], category=e.category, attributes=e.attributes, manipulated=e.manipulated)
            for e in entities
        ),
        relations=tuple(Relation(subject=ids[id(a)], relation=r, object=ids[id(b)]) for a, r, b in compiler.relations),
    )
    return ParsedTask(
        sentence=sentence,
        scene=scene,
        primitives=primitives,
        queries=queries,
        not_understood=not_understood,
        assumptions=tuple(dict.fromkeys(compiler.talk.assumptions)),
        parser="embedded",
    )
