"""Which thing a mention means: the things spoken of so far, and how mentions find them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from armwright.assets.catalog import CATALOG, CategoryInfo
from armwright.core.errors import UsageError
from armwright.core.task import SpotName
from armwright.language._items import NounPhrase
from armwright.language.checks import MAX_OBJECTS
from armwright.language.lexicon import GENERIC_NOUNS

_WIDER = {"cup": ("mug", "paper_cup"), "mug": ("cup",)}
"""A word may mean the thing in the hand if it is of these categories and nothing of its own was mentioned."""
_ELSEWHERE = ("floor", "ground")
"""Surfaces that the robot does not stand at: the table is what it has."""
_LOOSE_CUPS = ("cup", "teacup", "cups")


@dataclass(eq=False)
class Entity:
    """One thing of the scene.

    Attributes:
        category: Catalog category.
        attributes: What was said of it.
        head: The word it was introduced by.
        described: It was introduced by a description, not by an action.
        manipulated: A primitive moves it.
        moved: It has left its first place.
        part: The part by which the sentence says it is held.
        spot: Which of its drawers was last spoken of.
    """

    category: str
    attributes: dict[str, str]
    head: str
    described: bool = False
    manipulated: bool = False
    moved: bool = False
    part: str | None = None
    spot: SpotName | None = None

    @property
    def info(self) -> CategoryInfo:
        """Catalog entry."""
        return CATALOG[self.category]


class TableType:
    """The table the robot stands at: always there, never an object of the scene."""


TABLE = TableType()
Referent = Entity | TableType
Test = Callable[[Entity], bool]


def anything(_: Entity) -> bool:
    """Accept every entity."""
    return True


@dataclass
class Discourse:
    """The things spoken of, most salient last.

    Attributes:
        suggest: Names the categories closest to an unknown noun.
        entities: In order of introduction.
        salient: In order of last mention.
        group: The last things mentioned together.
        grounds: What things were described to be on, in or beside.
        held: What the hand holds.
        place: The last target.
        top: The last thing put on a stack.
        assumptions: Guesses to tell the user about.
    """

    suggest: Callable[[str], Sequence[str]]
    entities: list[Entity] = field(default_factory=list)
    salient: list[Entity] = field(default_factory=list)
    group: list[Entity] = field(default_factory=list)
    grounds: list[Entity] = field(default_factory=list)
    held: Entity | None = None
    place: Referent | None = None
    top: Entity | None = None
    assumptions: list[str] = field(default_factory=list)
    ordered: list[tuple[NounPhrase, Entity]] = field(default_factory=list)

    def mention(self, entities: Sequence[Entity]) -> None:
        """Make entities the most salient."""
        for entity in entities:
            if entity in self.salient:
                self.salient.remove(entity)
            self.salient.append(entity)
        if len(entities) > 1:
            self.group = list(entities)

    def note(self, entities: Sequence[Entity]) -> None:
        """Make entities known as where something is: the least likely to be meant by *it*."""
        self.salient[:0] = [entity for entity in entities if entity not in self.salient]

    def create(self, category: str, attributes: dict[str, str], head: str, *, described: bool = False) -> Entity:
        """Add a thing to the scene.

        Raises:
            UsageError: The scene would hold too many.
        """
        if len(self.entities) >= MAX_OBJECTS:
            raise UsageError(
                f"the sentence asks for more than {MAX_OBJECTS} objects.", hint=f"Name at most {MAX_OBJECTS} things."
            )
        entity = Entity(category, dict(attributes), head, described=described)
        self.entities.append(entity)
        return entity

    def resolve(
        self, phrase: NounPhrase, *, describing: bool = False, exclude: Sequence[Entity] = (), test: Test = anything
    ) -> list[Referent]:
        """Return what a noun phrase means, making new things where nothing known fits.

        Args:
            phrase: The mention.
            describing: It stands in a description of the scene: indefinite mentions are new things.
            exclude: Things it cannot mean (an object is not its own target).
            test: What the role requires of a thing a pronoun stands for.

        Raises:
            UsageError: It means nothing in the catalog, or nothing mentioned.
        """
        if phrase.fault:
            raise UsageError(
                phrase.fault, hint=f"Say which things, and a whole number of them from 1 to {MAX_OBJECTS}."
            )
        if phrase.kind == "surface":
            if phrase.head in _ELSEWHERE:
                self.assumptions.append(f"{phrase.head} taken as the table")
            return [TABLE]
        if phrase.owner is not None:
            return self.resolve(phrase.owner, describing=describing, exclude=exclude, test=test)
        if phrase.kind == "pronoun":
            return list(self._pronoun(phrase, exclude, test))
        if phrase.kind == "part":
            return list(self._by_part(phrase, exclude))
        if phrase.kind == "one":
            return list(self._one(phrase, exclude, test))
        if phrase.kind == "generic":
            return list(self._generic(phrase, exclude, test))
        if phrase.kind == "object" and phrase.category is not None:
            found = self._in_order(phrase, phrase.category, describing, exclude)
            for entity in found:
                entity.spot = phrase.spot or entity.spot
            return list(found)
        raise self._unknown(phrase.head)

    def _unknown(self, noun: str) -> UsageError:
        return UsageError(
            f"unknown object {noun!r}.",
            hint=f"Nearest: {', '.join(self.suggest(noun))}. `armwright assets list` shows all.",
        )

    def _pronoun(self, phrase: NounPhrase, exclude: Sequence[Entity], test: Test) -> Sequence[Referent]:
        if phrase.head == "there":
            if self.place is None:
                raise UsageError("'there' refers to no place in the text.", hint="Name the place.")
            return [self.place]
        if phrase.head == "stack":
            if self.top is None:
                raise UsageError("nothing was stacked before.", hint="Say first what to stack.")
            return [self.top]
        if phrase.head == "itself":
            what = exclude[0].category.replace("_", " ") if exclude else "thing"
            raise UsageError(f"a {what} cannot be placed against itself.", hint="Name another thing as the place.")
        if phrase.head == "them":
            if phrase.count and self.group and phrase.count > len(self.group):
                raise UsageError(
                    f"{phrase.count} of them are asked for, but {len(self.group)} were spoken of.",
                    hint="Name the things, or a smaller number.",
                )
            if self.group and not set(map(id, self.group)) & set(map(id, exclude)):
                return [e for e in self.group if e in self.entities][: phrase.count or None]
            several = [e for e in self.salient if e not in exclude and test(e) and not e.info.static]
            figures = [e for e in several if e not in self.grounds]
            several = figures if len(figures) > 1 else several
            return several[-2:] if len(several) > 1 and not self.group else self._last(exclude, test, "them")
        if self.held is not None and self.held not in exclude and test(self.held):
            return [self.held]
        return self._last(exclude, test, "it")

    def _last(self, exclude: Sequence[Entity], test: Test, word: str) -> list[Entity]:
        for entity in reversed(self.salient):
            if entity not in exclude and test(entity):
                return [entity]
        if exclude and not self.salient:
            return []
        others = [e for e in self.salient if e not in exclude]
        if others:
            return [others[-1]]
        what = f"the {exclude[0].category.replace('_', ' ')} itself" if exclude else "nothing named before"
        raise UsageError(f"{word!r} would mean {what}.", hint="Name the object.")

    def _by_part(self, phrase: NounPhrase, exclude: Sequence[Entity]) -> list[Entity]:
        region = {"lid": "Graspable Lid", "door": "Openable Handle", "button": "Button", "handle": "Handle"}
        wanted = region.get(phrase.part or "", "")
        for entity in reversed(self.salient):
            if any(wanted in name for name in entity.info.regions) and (wanted or entity not in exclude):
                return [entity]
        if phrase.part == "door":
            return [self.create("microwave", {}, phrase.head)]
        if phrase.part == "lid":
            return [self.create("pot", {}, phrase.head)]
        raise UsageError(
            f"it is not said what the {phrase.head} belongs to.", hint="Say for example: the mug's handle."
        )

    def _one(self, phrase: NounPhrase, exclude: Sequence[Entity], test: Test) -> list[Entity]:
        source = self.salient[-1] if self.salient else None
        if exclude:
            source = exclude[-1]
        if source is None:
            raise UsageError(f"'{phrase.head}' refers to nothing named before.", hint="Name the object.")
        clone = NounPhrase("object", source.head, source.category, phrase.attributes, phrase.count, phrase.plural)
        clone.definite, clone.other, clone.every = phrase.definite, phrase.other, phrase.every
        clone.ordinal, clone.ordinal_at = phrase.ordinal, phrase.ordinal_at
        matching = [e for e in self.salient if _fits(e, phrase.attributes) and e not in exclude]
        same = [e for e in matching if e.category == source.category]
        if phrase.attributes and matching and not same and not exclude:
            return [matching[-1]]
        return self._in_order(clone, source.category, False, exclude)

    def _in_order(self, phrase: NounPhrase, category: str, describing: bool, exclude: Sequence[Entity]) -> list[Entity]:
        """Find what an ordinal selects: what it meant before, else the nth of its kind as they were named."""
        number = phrase.count or (2 if phrase.plural else 1)
        if not phrase.ordinal or number != 1:
            found = self._object(phrase, category, describing, exclude)
        else:
            before = [e for p, e in self.ordered if self._same_order(p, phrase, e, category) and e not in exclude]
            known = [e for e in self.entities if e.category == category and _fits(e, phrase.attributes)]
            at = phrase.ordinal - 1 if phrase.ordinal > 0 else len(known) - 1
            nth = [e for e in known[max(at, 0) :][:1] if len(known) > 1 and not e.manipulated and e not in exclude]
            found = before[-1:] or nth or self._object(phrase, category, describing, exclude)
        if phrase.ordinal:
            self.ordered += [(phrase, entity) for entity in found[:1]]
        return found

    def _same_order(self, earlier: NounPhrase, phrase: NounPhrase, entity: Entity, category: str) -> bool:
        same = earlier.ordinal == phrase.ordinal and earlier.attributes == phrase.attributes
        return same and entity.category == category

    def idle_ordinals(self, phrases: Sequence[NounPhrase]) -> set[int]:
        """Return the tokens of ordinals that told nothing apart: ``the second shelf`` where there is one shelf."""
        told: set[int] = set()
        for phrase, entity in self.ordered:
            alike = [e for e in self.entities if e.category == entity.category and _fits(e, phrase.attributes)]
            if len(alike) >= max(phrase.ordinal, (phrase.count or (2 if phrase.plural else 1)) + 1):
                told.add(phrase.ordinal_at)
        owners = [phrase.owner for phrase in phrases if phrase.owner is not None]
        return {phrase.ordinal_at for phrase in [*phrases, *owners] if phrase.ordinal} - told

    def _generic(self, phrase: NounPhrase, exclude: Sequence[Entity], test: Test) -> list[Entity]:
        kinds = GENERIC_NOUNS[phrase.head]
        known = [
            e for e in reversed(self.salient) if e not in exclude and (not kinds or e.category in kinds) and test(e)
        ]
        known = [e for e in known if _fits(e, phrase.attributes)]
        if phrase.plural and self.group:
            return list(self.group)
        if known:
            return [known[0]]
        if not kinds:
            raise self._unknown(phrase.head)
        self.assumptions.append(f"{phrase.head} taken as {kinds[0]}")
        return [self.create(kinds[0], phrase.attributes, phrase.head)]

    def _object(self, phrase: NounPhrase, category: str, describing: bool, exclude: Sequence[Entity]) -> list[Entity]:
        if phrase.total is not None:
            whole = replace(phrase, count=phrase.total, total=None)
            return self._object(whole, category, describing, exclude)[: phrase.count]
        known = [e for e in self.entities if e.category == category and _fits(e, phrase.attributes)]
        if not known and phrase.definite and not describing:
            known = self._by_other_name(phrase, category, exclude)
        free = [e for e in known if e not in exclude]
        number = phrase.count or (2 if phrase.plural else 1)
        if phrase.other:
            last = next((e for e in reversed(self.salient) if e in known), None)
            free = [e for e in free if e is not last]
            free = [e for e in free if not e.manipulated] or free
            if phrase.plural and not phrase.count and free:
                number = len(free)
        elif describing and not phrase.definite:
            free = []
        elif not phrase.definite:
            free = [e for e in free if e.described and not e.manipulated]
        elif phrase.every or (phrase.plural and phrase.count is None):
            number = max(len(free), 1) if free else max(number, 2)
        if number == 1 and free and not phrase.other and phrase.definite:
            found = next((e for e in reversed(self.salient) if e in free), free[0])
            return [found]
        found_all = free[:number]
        while len(found_all) < number:
            if phrase.approximate:
                self.assumptions.append(f"{phrase.head} taken as {category.replace('_', ' ')}")
            found_all.append(self.create(category, phrase.attributes, phrase.head, described=describing))
        return found_all

    def _by_other_name(self, phrase: NounPhrase, category: str, exclude: Sequence[Entity]) -> list[Entity]:
        """Find what a shorter or wider name refers back to: a juice box as *the box*, a mug as *the cup*."""
        fitting = [e for e in self.entities if _fits(e, phrase.attributes) and e not in exclude]
        named = [e for e in fitting if e.head.split()[-1:] == [phrase.head]]
        if named:
            return named[-1:]
        return [e for e in fitting if e is self.held and e.category in _WIDER.get(category, ())]

    def refine(self, phrase: NounPhrase, *, taken: Sequence[Entity]) -> list[Entity]:
        """Give attributes to things described before: ``two cups, a red one and a blue one``, ``the mug is red``."""
        if not phrase.attributes or not (phrase.kind == "one" or phrase.predicate):
            return []
        category = phrase.category
        if category is None and self.salient:
            category = self.salient[-1].category
        plain = [e for e in self.entities if e.category == category and not e.attributes and e not in taken]
        if not plain or not all(e.described for e in plain):
            return []
        plain[0].attributes |= phrase.attributes
        return plain[:1]

    def needs_handle(self, entity: Entity) -> None:
        """Take a loosely named cup for a mug, when what is asked of it needs a handle."""
        if entity.category == "cup" and entity.head in _LOOSE_CUPS:
            entity.category = "mug"
            self.assumptions.append("cup taken as mug, which has a handle")


def _fits(entity: Entity, attributes: dict[str, str]) -> bool:
    return all(entity.attributes.get(key) == value for key, value in attributes.items())
