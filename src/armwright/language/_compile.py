"""Turns clauses into a scene and ordered primitives: one method per kind of clause."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.assets.catalog import category_info
from armwright.core.errors import UsageError
from armwright.core.task import PrimitiveName, RelationName
from armwright.language import checks
from armwright.language import lexicon as lex
from armwright.language._grounding import Grounding, Step, movable, openable, pours
from armwright.language._items import Clause, Place
from armwright.language._referents import TABLE, Entity, Referent, anything
from armwright.language.lexicon import RelationPhrase


class Compiler(Grounding):
    """Collects entities, initial relations and steps, clause by clause."""

    def run(self, clauses: Sequence[Clause], *, early: Sequence[Clause] = ()) -> None:
        """Compile clauses in order.

        Args:
            clauses: In order of execution.
            early: Those whose things are already spoken of when the first is read.

        Raises:
            UsageError: Something asked for is impossible or unknown.
        """
        for clause in early:
            for np in clause.objects:
                if np.kind == "object":
                    self.talk.mention([e for e in self.talk.resolve(np) if isinstance(e, Entity)])
                    np.definite = True
        for clause in clauses:
            if clause.kind == "describe":
                self._describe(clause)
            else:
                getattr(self, f"_{clause.kind}")(clause)

    def _pick(self, clause: Clause) -> None:
        objects = self._entities(clause, test=movable, action="pick up")
        if clause.result == "open" and all(map(openable, objects)):
            return self._act("open", objects)
        lid = clause.objects[:1] and clause.objects[0].part == "lid"
        if lid and any(p.phrase.source for p in clause.places):
            return self._act("open", objects)
        lifts = clause.word.split()[0] in lex.LIFTING
        above = any(p.phrase.relation == "above" and not p.explicit for p in clause.places)
        goal = self._split_places(clause, objects, goals=lifts and above)
        if goal is not None:
            self._put(objects, goal, clause)
            return None
        return self._lift(objects)

    def _lift(self, objects: Sequence[Entity]) -> None:
        for entity in objects:
            self._take(entity, "pick up")
        self.talk.mention(objects)

    def _place(self, clause: Clause) -> None:
        objects = self._entities(clause, test=movable, action="place")
        if clause.word in ("leave", "leaving") and self.talk.held not in objects:
            return self._locate(objects, clause.places)
        if clause.result == "stacked":
            return self._pile(objects, None)
        if clause.result == "beside" and len(objects) == 2:
            return self._release(objects[:1], objects[1], "next_to")
        goal = self._split_places(clause, objects, goals=True)
        if goal is None:
            if clause.word in ("bring", "carry", "deliver") and clause.objects:
                return self._lift(objects)
            if clause.side is not None:
                return self._release(objects, None, clause.side)
            if clause.result == "down":
                return self._put_down(objects)
            if clause.result == "back":
                return self._put_back(objects)
            if clause.word in lex.RELEASING and self.talk.held is not None:
                return self._let_go(objects)
            raise UsageError(
                f"it is not said where to place the {objects[0].category.replace('_', ' ')}.",
                hint="Say for example: … on the plate.",
            )
        self._put(objects, goal, clause)
        return None

    _go = _place

    def _put_down(self, objects: Sequence[Entity]) -> None:
        last = self.steps[-1] if self.steps else None
        if last is None or last.object not in objects or last.name != "place":
            self._release(objects, TABLE, "on")

    def _put_back(self, objects: Sequence[Entity]) -> None:
        """Put things where they were to begin with, as far as that was said, else on the table."""
        for entity in objects:
            home = next(((r, t) for e, r, t in self.relations if e is entity and t not in objects), ("on", TABLE))
            if home[1] is not TABLE or entity is self.talk.held:
                self._release([entity], home[1], home[0])
            else:
                self._put_down([entity])

    def _let_go(self, objects: Sequence[Entity]) -> None:
        """Release things: onto what is below the hand if it was said what is there, else on the table."""
        last = self.steps[-1] if self.steps else None
        if last is not None and last.object in objects and last.name == "place":
            return
        target: Referent = TABLE
        relation: RelationName = "on"
        if last is not None and last.object in objects and last.name == "hold" and isinstance(last.target, Entity):
            target, relation = last.target, checks.default_goal(last.target.info)
            relation = checks.settle(last.object.info, "on" if relation == "next_to" else relation, target.info)
        self._release(objects, target, relation)

    def _release(self, objects: Sequence[Entity], target: Referent | None, relation: RelationName) -> None:
        for entity in objects:
            self._take(entity, "place")
            self.steps.append(Step("place", entity, target, relation))
            entity.moved, self.talk.held = True, None
        self.talk.mention(objects)

    def _put(self, objects: Sequence[Entity], goal: Place, clause: Clause) -> None:
        if clause.objects[:1] and clause.objects[0].part == "lid" and self._on_own(objects, goal):
            self._act("close", objects)
            return
        targets = self._targets(goal, objects)
        objects = self._one_for_each(objects, clause, goal, len(targets))
        for k, entity in enumerate(objects):
            target = targets[k] if len(targets) == len(objects) else targets[0]
            self._put_one(entity, goal, target)
        self.talk.place = targets[0]
        self.talk.mention([t for t in targets if isinstance(t, Entity)])
        self.talk.mention(objects)

    def _one_for_each(self, objects: Sequence[Entity], clause: Clause, goal: Place, n: int) -> Sequence[Entity]:
        """Return as many objects as targets for ``put a cube in each bowl``."""
        each = any(np.every and np.count is None for np in goal.targets)
        if not each or len(objects) != 1 or n < 2 or not clause.objects or clause.objects[0].definite:
            return objects
        several = [*objects]
        while len(several) < n:
            found = self.talk.resolve(clause.objects[0], exclude=several)
            several += [e for e in found if isinstance(e, Entity) and e not in several]
        return several

    def _on_own(self, objects: Sequence[Entity], goal: Place) -> bool:
        return any(np.category == objects[0].category for np in goal.targets)

    def _put_one(self, entity: Entity, goal: Place, target: Referent) -> None:
        relation: RelationName
        if not isinstance(target, Entity):
            relation = goal.phrase.relation or "on"
            relation = "on" if relation == "in" else relation
            if relation == "under":
                raise UsageError(f"nothing can be put {relation} the table.", hint="Say: on the table.")
            checks.require_movable(entity.info, "place")
            self._take(entity, "place")
            name: PrimitiveName = "hold" if relation == "above" else "place"
            self.steps.append(Step(name, entity, TABLE, relation))
            entity.moved, self.talk.held = True, entity if name == "hold" else None
            return
        checks.require_movable(entity.info, "place")
        self._let_lie(target)
        if target.category == "mug_rack" and (goal.phrase.relation in ("on", "in", None)):
            self._hang_one(entity, target)
            return
        relation = goal.phrase.relation or checks.default_goal(target.info)
        relation = checks.settle(entity.info, relation, target.info)
        last = self.steps[-1] if self.steps else None
        if last == Step("place", entity, target, relation):
            return
        self._take(entity, "place")
        if relation == "above":
            self.steps.append(Step("hold", entity, target, relation))
            return
        self.steps.append(Step("place", entity, target, relation))
        entity.moved, self.talk.held = True, None

    def _hold(self, clause: Clause) -> None:
        objects = self._entities(clause, test=movable, action="hold")
        goal = self._split_places(clause, objects, goals=True)
        for entity in objects:
            self._take(entity, "hold")
            target = self._targets(goal, objects)[0] if goal else None
            relation = goal.phrase.relation if goal else None
            self.steps.append(Step("hold", entity, target, relation))
            entity.moved = True
            if isinstance(target, Entity):
                self.talk.mention([target])
        self.talk.mention(objects)

    def _hang_one(self, entity: Entity, rack: Entity) -> None:
        self.talk.needs_handle(entity)
        checks.require_movable(entity.info, "hang")
        checks.require(entity.info, "hang", checks.hangs)
        self._take(entity, "hang")
        self.steps.append(Step("hang", entity, rack, "on"))
        entity.moved, self.talk.held = True, None

    def _hang(self, clause: Clause) -> None:
        region, clause.region = clause.region, None
        for place in clause.places:
            place.phrase = RelationPhrase("on", goal=True) if place.phrase.source else place.phrase
        objects = self._entities(clause, test=movable, action="hang")
        if region is not None and region.part not in (None, "handle"):
            self._hold_by(objects, str(region.part))
        goal = self._split_places(clause, objects, goals=True)
        targets: list[Referent]
        if goal is None:
            racks = [e for e in self.talk.entities if e.category == "mug_rack"]
            if not racks:
                racks = [self.talk.create("mug_rack", {}, "rack")]
                self.talk.assumptions.append("hung on a mug rack")
            targets = [racks[-1]]
        else:
            targets = self._targets(goal, objects)
        for entity in objects:
            rack = targets[0]
            if not isinstance(rack, Entity):
                raise UsageError("nothing can be hung on the table.", hint="Possible: on the mug rack.")
            checks.require(rack.info, "hang something on", checks.has_hook)
            self._hang_one(entity, rack)
            self.talk.mention([rack])
        self.talk.mention(objects)

    def _stack(self, clause: Clause) -> None:
        objects = self._entities(clause, test=movable, action="stack")
        goal = self._split_places(clause, objects, goals=True)
        target = self._targets(goal, objects)[0] if goal else None
        self._pile(objects, target)

    def _pile(self, objects: Sequence[Entity], target: Referent | None) -> None:
        rest = list(objects)
        if target is None:
            if len(rest) < 2:
                raise UsageError("it is not said what to stack it on.", hint="Say for example: … on the blue cube.")
            target, *rest = rest
        for entity in rest:
            if isinstance(target, Entity):
                checks.settle(entity.info, "on", target.info)
            self._take(entity, "stack")
            self.steps.append(Step("place", entity, target, "on"))
            entity.moved, self.talk.held = True, None
            target = entity
        self.talk.mention(objects)

    def _pour(self, clause: Clause) -> None:
        source = self._pour_source(clause)
        goals = self._pour_goals(clause.places)
        if not goals:
            raise UsageError("it is not said what to pour into.", hint="Say for example: … into the bowl.")
        self._locate_around(clause.places, [source], source=source, goals=goals)
        targets: list[Referent] = []
        for goal in goals:
            targets += self._targets(goal, [source], test=lambda e: checks.can_receive_pour(e.info))
        self._pour_into(source, targets)

    def _pour_goals(self, places: Sequence[Place]) -> list[Place]:
        """Return the phrases that say what to pour into: ``into``, else the first thing that has an opening."""
        free = [p for p in places if p.targets and not p.phrase.source and not p.explicit]
        into = [p for p in free if p.phrase.goal]
        if into:
            return [into[0], *(p for p in into[1:] if p.joined)]
        open_to = [
            p for p in free if (name := p.targets[0].category) is None or checks.can_receive_pour(category_info(name))
        ]
        return (open_to or free)[:1]

    def _pour_into(self, source: Entity, targets: Sequence[Referent]) -> None:
        checks.require_movable(source.info, "pour from")
        checks.require(source.info, "pour from", checks.can_pour)
        for target in targets:
            if not isinstance(target, Entity):
                raise UsageError("cannot pour onto the table.", hint="Name a container, such as the bowl.")
            if target is source:
                raise UsageError(
                    f"cannot pour the {source.category.replace('_', ' ')} into itself.",
                    hint="Name what to pour from: … from the kettle.",
                )
            checks.require(target.info, "pour into", checks.can_receive_pour)
            self._take(source, "pour from")
            self.steps.append(Step("pour", source, target, "in"))
            source.moved = True
            self.talk.mention([target])
        self.talk.mention([source])

    def _pour_source(self, clause: Clause) -> Entity:
        named = [np for np in clause.objects if np.kind not in ("substance", "unknown")]
        sources = [np for p in clause.places if p.phrase.source for np in p.targets]
        for np in [*sources, *named]:
            found = self.talk.resolve(np, test=pours)
            if found and isinstance(found[0], Entity):
                if np.part and np.part != "lid":
                    self._hold_by(found[:1], np.part)  # type: ignore[arg-type]
                if clause.region is not None and clause.region.part:
                    self._hold_by(found[:1], clause.region.part)  # type: ignore[arg-type]
                return found[0]
        if self.talk.held is not None:
            return self.talk.held
        known = [e for e in self.talk.salient if checks.can_pour(e.info)]
        if known:
            return known[-1]
        raise UsageError("it is not said what to pour from.", hint="Say for example: pour the kettle into the bowl.")

    def _fill(self, clause: Clause) -> None:
        receivers = self._entities(clause, action="fill")
        source = self._pour_source(Clause("pour", places=clause.places))
        self._locate_around(clause.places, receivers, source=source, goals=())
        self._pour_into(source, receivers)

    def _push(self, clause: Clause) -> None:
        self._shift("push", clause)

    def _pull(self, clause: Clause) -> None:
        self._shift("pull", clause)

    def _shift(self, name: PrimitiveName, clause: Clause) -> None:
        swings = clause.result in ("open", "closed")
        objects = self._entities(clause, test=lambda e: openable(e) or (movable(e) and not swings), action=name)
        if clause.result in ("open", "closed") and all(map(openable, objects)):
            return self._act("close" if clause.result == "closed" else "open", objects)
        goal = self._split_places(clause, objects, goals=True)
        for entity in objects:
            able = "Openable Handle" in entity.info.regions or "Button" in entity.info.regions
            if not able:
                checks.require_movable(entity.info, name)
            target: Referent | None = None
            relation = clause.side
            if goal is not None:
                target = self._targets(goal, objects, test=anything)[0]
                if isinstance(target, Entity):
                    relation = goal.phrase.relation or "next_to"
                    self.talk.mention([target])
                else:
                    target = None
            entity.manipulated = True
            self.steps.append(Step(name, entity, target, relation))
            entity.moved = True
        self.talk.mention(objects)
        return None

    def _act(self, name: PrimitiveName, objects: Sequence[Entity]) -> None:
        for entity in objects:
            checks.require(entity.info, name, checks.has_opening_part)
            entity.manipulated = True
            self.steps.append(Step(name, entity))
        self.talk.mention(objects)

    def _open(self, clause: Clause) -> None:
        objects = self._entities(clause, test=openable, action="open")
        self._split_places(clause, objects, goals=False)
        self._act("open", objects)

    def _close(self, clause: Clause) -> None:
        objects = self._entities(clause, test=openable, action="close")
        self._split_places(clause, objects, goals=False)
        self._act("close", objects)
