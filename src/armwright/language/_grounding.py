"""Grounds clauses: what their nouns mean, where things are to begin with, and which phrase says where to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from armwright.assets.catalog import CATALOG
from armwright.core.errors import UsageError
from armwright.core.task import RELATIONS, PrimitiveName, RelationName, SpotName
from armwright.language import checks
from armwright.language import lexicon as lex
from armwright.language._items import Clause, NounPhrase, Place
from armwright.language._referents import Discourse, Entity, Referent, Test, anything


@dataclass
class Step:
    """A primitive over entities."""

    name: PrimitiveName
    object: Entity
    target: Referent | None = None
    relation: RelationName | None = None
    spot: SpotName | None = None
    distance_m: float | None = None


def movable(entity: Entity) -> bool:
    """Return whether it is not fixed."""
    return not entity.info.static


def openable(entity: Entity) -> bool:
    """Return whether it has a door or drawer."""
    return "Openable Handle" in entity.info.regions


def pours(entity: Entity) -> bool:
    """Return whether its contents can be poured out."""
    return checks.can_pour(entity.info)


def receiver(entity: Entity) -> bool:
    """Return whether things go in or on it."""
    return entity.info.receives_in or entity.info.receives_on


class Grounding:
    """The scene and the steps so far, and how mentions, places and the hand relate to them.

    Attributes:
        talk: The things spoken of.
        steps: Primitives in order.
        relations: What holds before anything moves.
        rejected: Token spans that nothing was made of.
    """

    def __init__(self, *, suggest: Callable[[str], Sequence[str]]) -> None:
        self.talk = Discourse(suggest)
        self.steps: list[Step] = []
        self.relations: list[tuple[Entity, RelationName, Entity]] = []
        self.rejected: list[tuple[int, int]] = []

    def _describe(self, clause: Clause) -> None:
        nouns = [np for np in clause.objects if self._known(np)]
        places = [place for place in clause.places if all(map(self._known, place.targets))]
        subjects: list[Entity] = []
        for np in nouns:
            found = self.talk.refine(np, taken=() if np.kind == "one" else subjects) or self.talk.resolve(
                np, describing=True
            )
            subjects += [e for e in found if isinstance(e, Entity) and e not in subjects]
            self.talk.mention(subjects[-len(found) :])
        self._locate(subjects, places, describing=True)
        self.talk.mention(subjects)

    def _known(self, phrase: NounPhrase) -> bool:
        """Return whether a mention in a description is of the catalog; else note it as not understood."""
        if phrase.kind == "unknown" or (phrase.kind == "generic" and not lex.GENERIC_NOUNS[phrase.head]):
            self.rejected.append(phrase.tokens)
            return False
        return phrase.kind not in ("substance", "part")

    def _locate(self, subjects: Sequence[Entity], places: Sequence[Place], *, describing: bool = False) -> None:
        """Record where things are before anything moves."""
        previous: list[Referent] = list(subjects)
        for place in places:
            around: Sequence[Referent] = subjects if place.of < 0 else previous
            movers = [e for e in around if isinstance(e, Entity)][-1 if place.single else 0 :]
            targets: list[Referent] = []
            for np in place.targets:
                if not self._known(np):
                    continue
                targets += self.talk.resolve(np, describing=describing, exclude=movers)
            if place.phrase.unsupported:
                self.rejected.append(place.tokens)
                continue
            for k, mover in enumerate(movers):
                for target in targets if len(targets) != len(movers) else [targets[k]]:
                    self._relate(mover, place, target)
            previous = targets
            named = [t for t in targets if isinstance(t, Entity)]
            if describing:
                self.talk.mention(named)
                self.talk.grounds += named
            else:
                self.talk.note(named)

    def _locate_around(
        self, places: Sequence[Place], subjects: Sequence[Entity], *, source: Entity, goals: Sequence[Place]
    ) -> None:
        """Record where things are when a source and goals stand among the places: each phrase is about the noun before.

        Args:
            places: In the order said.
            subjects: What the phrases before any source or goal are about.
            source: What is poured from.
            goals: The phrases among ``places`` that say where to.
        """
        around: list[Referent] = list(subjects)
        for place in places:
            if any(place is goal for goal in goals):
                around = [e for np in place.targets for e in self.talk.resolve(np, exclude=[source])]
                for np in place.targets:
                    np.definite = np.definite or np.kind == "object"
            elif place.phrase.source:
                around = [source]
            else:
                movers = [e for e in around if isinstance(e, Entity)]
                place.of = -1
                self._locate(movers, [place])
                around = [e for np in filter(self._known, place.targets) for e in self.talk.resolve(np, exclude=movers)]

    def _relate(self, mover: Entity, place: Place, target: Referent) -> None:
        if not isinstance(target, Entity) or mover.moved or mover is target:
            return
        relation = self._source_relation(place, target)
        relation = checks.settle(mover.info, relation, target.info)
        edge = (mover, relation, target)
        if edge not in self.relations:
            self.relations.append(edge)

    def _source_relation(self, place: Place, target: Entity) -> RelationName:
        if place.phrase.relation is not None:
            return place.phrase.relation
        if place.phrase.source:
            return checks.default_source(target.info, "from")
        return checks.default_goal(target.info)

    def _entities(self, clause: Clause, *, action: str, test: Test = anything) -> list[Entity]:
        """Return what the clause acts on."""
        if not clause.objects:
            if self.talk.held is not None:
                return [self.talk.held]
            if self.talk.salient and clause.places:
                return [next((e for e in reversed(self.talk.salient) if test(e)), self.talk.salient[-1])]
            raise UsageError(f"it is not said what to {action}.", hint=f"Say for example: {action} the mug …")
        if any(np.kind == "generic" and np.head == lex.EVERYTHING for np in clause.objects):
            return self._without(self._everything(clause, test), clause.excepted)
        found: list[Entity] = []
        self._own_lids(clause)
        for np in clause.objects:
            for entity in self.talk.resolve(np, exclude=found if np.kind != "pronoun" else (), test=test):
                if not isinstance(entity, Entity):
                    raise UsageError(f"cannot {action} the table.", hint="It is fixed; name an object on it.")
                if entity not in found:
                    found.append(entity)
            if np.part and np.kind in ("object", "part", "one", "generic"):
                self._hold_by(found[-1:], np.part)
        found = self._without(found, clause.excepted)
        if clause.region is not None and clause.region.part:
            self._hold_by(found, clause.region.part)
        self.talk.mention(found)
        return found

    def _without(self, found: list[Entity], excepted: Sequence[NounPhrase]) -> list[Entity]:
        """Leave out what ``all but the red one`` leaves out; what was not spoken of is there, but is not touched."""
        kept = found
        for np in excepted:
            category = np.category or found[-1].category
            out = [e for e in kept if e.category == category and np.attributes.items() <= e.attributes.items()]
            if not out and np.kind in ("object", "one"):
                self.talk.create(category, np.attributes, np.head, described=True)
            number = np.count or (len(out) if np.plural else 1)
            kept = [e for e in kept if e not in out[-number:]]
        if excepted and not kept:
            raise UsageError("nothing is left to act on.", hint="Name what shall be moved.")
        return kept

    def _everything(self, clause: Clause, test: Test) -> list[Entity]:
        """Return what *everything* means: all that is there, or all that is where the phrase after it says."""
        places = clause.places
        last = next((k for k, p in enumerate(places) if p.phrase.goal and not p.explicit), None)
        if last is None:
            last = next((k for k, p in enumerate(places) if not p.explicit and not p.phrase.source), len(places))
        where = [np for p in places[:last] for np in p.targets]
        clause.places = places[last:]
        around = [e for np in where for e in self.talk.resolve(np)]
        targets = [e for p in clause.places[:1] for np in p.targets for e in self.talk.resolve(np)]
        for np in (np for p in clause.places[:1] for np in p.targets):
            np.definite = True
        supported = [(e, t) for e, relation, t in self.relations if relation in ("on", "in") and not e.moved]
        found = [e for e in self.talk.entities if test(e) and (movable(e) or test is openable) and e not in targets]
        if any(np.other for np in clause.objects):
            found = [e for e in found if not e.manipulated]
        if where:
            found = [e for e in found if any(e is item and t in around for item, t in supported)]
        else:
            found = [e for e in found if not any(e is t for item, t in supported if item in found)]
        if not found:
            raise UsageError(
                "it is not said what 'everything' is.", hint="Name the things, or say first what is there."
            )
        return found

    def _own_lids(self, clause: Clause) -> None:
        """Say whose lid is meant in ``put the lid on the pot`` and ``take the lid off the kettle``."""
        for np in clause.objects:
            if np.kind == "part" and np.part == "lid" and np.owner is None:
                targets = [t for place in clause.places for t in place.targets if t.category]
                np.owner = next((t for t in targets if "Graspable Lid" in CATALOG[str(t.category)].regions), None)

    def _hold_by(self, entities: Sequence[Entity], part: str) -> None:
        for entity in entities:
            if part == "handle":
                self.talk.needs_handle(entity)
            entity.part = part

    def _split_places(self, clause: Clause, objects: Sequence[Entity], *, goals: bool) -> Place | None:
        """Find the phrase that says where to; record the others as where things are."""
        places = list(clause.places)
        only_goal = next((k for k, p in enumerate(places) if p.phrase.goal and not p.explicit), None)
        chosen: int | None = only_goal
        if chosen is None and goals:
            chosen = next((k for k, p in enumerate(places) if not p.explicit and not p.phrase.source), None)
            later = [k for k, p in enumerate(places) if not p.explicit and not p.phrase.source and k != chosen]
            if chosen is not None and later and self._must_shift(places, chosen, later[0], objects):
                chosen = later[0]
        before = places[:chosen] if chosen is not None else places
        self._locate(objects, [p for p in before if not p.phrase.goal])
        if chosen is None:
            return None
        goal = places[chosen]
        after = places[chosen + 1 :]
        for place in after:
            if place.joined and not place.phrase.source and not place.explicit:
                self.rejected.append(place.tokens)
                for np in filter(self._known, place.targets):
                    self.talk.resolve(np, exclude=objects)
        after = [p for p in after if not p.joined or p.phrase.source or p.explicit]
        if after:
            self._after_goal(goal, after, objects)
        return goal

    def _must_shift(self, places: Sequence[Place], chosen: int, later: int, objects: Sequence[Entity]) -> bool:
        """Return whether reading the later phrase as being about the target is impossible."""
        first, second = places[chosen].targets, places[later].targets
        if not first or not second or first[0].category is None or second[0].category is None:
            return bool(first and first[0].kind == "surface" and second and second[0].kind == "object")
        relation = places[later].phrase.relation
        if relation not in ("in", "on"):
            return False
        target, ground = CATALOG[first[0].category], CATALOG[second[0].category]
        if target.static:
            return True
        try:
            checks.settle(target, relation, ground)
        except UsageError:
            return True
        return False

    def _after_goal(self, goal: Place, after: Sequence[Place], objects: Sequence[Entity]) -> None:
        kept: list[Place] = []
        for place in after:
            if place.phrase.source:
                self._locate(objects, [place])
            elif any(np.kind == "surface" for np in place.targets):
                for np in filter(lambda np: np.kind == "surface", place.targets):
                    self.talk.resolve(np)
            else:
                place.of = place.of if kept and place.explicit else -1
                kept.append(place)
        if kept:
            targets = [t for np in goal.targets for t in self.talk.resolve(np, exclude=objects)]
            self._locate([t for t in targets if isinstance(t, Entity)], kept)

    def _targets(self, goal: Place, objects: Sequence[Entity], *, test: Test = receiver) -> list[Referent]:
        if goal.phrase.unsupported:
            raise UsageError(
                "'between' is not among the relations the robot can bring about.",
                hint=f"Name one thing and a relation to it: {', '.join(RELATIONS)}.",
            )
        found: list[Referent] = []
        for np in goal.targets:
            found += self.talk.resolve(np, exclude=objects, test=test)
            self._leave_part(np)
        if not found:
            raise UsageError("it is not said where to.", hint="Say for example: … on the plate.")
        return found

    def _leave_part(self, phrase: NounPhrase) -> None:
        """Note the part of a place as not understood: things go on or in the whole of it."""
        start, end = phrase.tokens
        if phrase.part in (None, "top"):
            return
        if phrase.kind == "part":
            self.rejected.append((start, phrase.owner.tokens[0] if phrase.owner else end))
        else:
            self.rejected.append((end - 1, end))

    def _take(self, entity: Entity, action: str) -> None:
        """Have the hand hold ``entity``."""
        checks.require_movable(entity.info, action)
        entity.manipulated = True
        if self.talk.held is entity and self.steps and self._last_pick() is entity:
            return
        for k in range(len(self.steps) - 1, -1, -1):
            step = self.steps[k]
            if step.object is entity:
                if step.name == "pick":
                    del self.steps[k]
                break
        self.steps.append(Step("pick", entity))
        self.talk.held = entity

    def _let_lie(self, entity: Entity) -> None:
        """Forget a pick that nothing came of: what things are put on is not in the hand."""
        own = [k for k, step in enumerate(self.steps) if step.object is entity]
        if own and self.steps[own[-1]].name == "pick":
            del self.steps[own[-1]]
            entity.manipulated = len(own) > 1
            self.talk.held = None if self.talk.held is entity else self.talk.held

    def _last_pick(self) -> Entity | None:
        return next((step.object for step in reversed(self.steps) if step.name == "pick"), None)
