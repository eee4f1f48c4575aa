"""Turns clauses into a scene and ordered primitives: one method per kind of clause."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.assets.catalog import category_info
from armwright.core.errors import UsageError
from armwright.core.task import PrimitiveName, RelationName
from armwright.language import checks
from armwright.language import lexicon as lex
from armwright.language._grounding import Step, movable, openable
from armwright.language._items import Clause, NounPhrase, Place
from armwright.language._pouring import Pouring
from armwright.language._referents import TABLE, Entity, Referent, anything
from armwright.language.lexicon import RelationPhrase


class Compiler(Pouring):
    """Collects entities, initial relations and steps, clause by clause."""

    _next: Clause | None = None
    _lid_in_hand: Entity | None = None

    def run(self, clauses: Sequence[Clause], *, early: Sequence[Clause] = ()) -> None:
        """Compile clauses in order.

        Args:
            clauses: In order of execution.
            early: Those whose things are already spoken of when the first is read.

        Raises:
            UsageError: Something asked for is impossible or unknown.
        """
        for clause in early:
            goals = [np for place in clause.places if not place.explicit for np in place.targets]
            for np in (np for np in (*clause.objects, *goals) if np.kind == "object"):
                self.talk.mention([e for e in self.talk.resolve(np) if isinstance(e, Entity)])
                np.definite = True
        for k, clause in enumerate(clauses):
            following = clauses[k + 1] if k + 1 < len(clauses) else None
            done, self._next = len(self.steps), following
            if clause.kind == "describe":
                self._describe(clause)
            elif clause.kind == "pour" and not clause.places and following is not None and following.kind == "pour":
                self._pick(clause)
            else:
                getattr(self, f"_{clause.kind}")(clause)
            followed = any(step.target is None and step.relation == clause.side for step in self.steps[done:])
            if clause.side is not None and not followed:
                self.rejected.append(clause.side_tokens)
            if clause.distance_m is not None and all(step.distance_m is None for step in self.steps[done:]):
                self.rejected.append(clause.distance_tokens)

    def _pick(self, clause: Clause) -> None:
        self._lid_from_pot(clause)
        objects = self._entities(clause, test=movable, action="pick up")
        if self._of_lid(clause) and clause.objects[0].kind == "part" and self._lid_goal() is not None:
            self._lid_in_hand = objects[0]
            return None
        if self._grips(objects):
            return None
        if clause.result == "out":
            self._locate_out(objects)
        if clause.result == "open" and all(map(openable, objects)):
            return self._act("open", objects)
        taken_off = clause.word in lex.UNCOVERING or any(p.phrase.source for p in clause.places)
        if self._of_lid(clause) and taken_off:
            return self._act("open", objects)
        lifts = clause.word.split()[0] in lex.LIFTING
        above = any(p.phrase.relation == "above" and not p.explicit for p in clause.places)
        goal = self._split_places(clause, objects, goals=lifts and above)
        if goal is not None:
            self._put(objects, goal, clause)
            return None
        return self._lift(objects)

    def _grips(self, objects: Sequence[Entity]) -> bool:
        """Return whether the hand only takes hold of a door or drawer, for the next clause to move it."""
        moves = self._next is not None and self._next.kind in ("open", "close", "pull", "push")
        return moves and bool(objects) and all(openable(e) and not movable(e) for e in objects)

    def _locate_out(self, objects: Sequence[Entity]) -> None:
        """Record that what is taken *out* was in what has been opened, unless it was said where it was."""
        opened = [s.object for s in self.steps if s.name == "open" and s.object.info.receives_in]
        placed = [mover for mover, _, _ in self.relations]
        for entity in objects:
            if opened and entity not in placed and entity is not opened[-1] and not entity.moved:
                self.relations.append((entity, checks.settle(entity.info, "in", opened[-1].info), opened[-1]))

    def _lid_goal(self) -> NounPhrase | None:
        """Return what the next clause puts the lid in the hand on, if that has a lid."""
        following = self._next
        if following is None or following.kind not in ("place", "go"):
            return None
        if not all(np.part == "lid" or (np.kind == "pronoun" and np.head == "it") for np in following.objects):
            return None
        targets = [np for place in following.places for np in place.targets if np.category and not np.part]
        return next((np for np in targets if "Graspable Lid" in category_info(str(np.category)).regions), None)

    def _lid_from_pot(self, clause: Clause) -> None:
        """Say whose lid is picked up in ``pick up the lid and put it on the pot``."""
        first = clause.objects[0] if clause.objects else None
        if first is not None and first.kind == "part" and first.part == "lid" and first.owner is None:
            first.owner = self._lid_goal()

    def _of_lid(self, clause: Clause) -> bool:
        return bool(clause.objects) and clause.objects[0].part == "lid"

    def _lid_off(self) -> Entity | None:
        """Return what the lid in the hand belongs to: *it* means the lid right after it was taken off."""
        if self._lid_in_hand is not None:
            lid, self._lid_in_hand = self._lid_in_hand, None
            return lid
        last = self.steps[-1] if self.steps else None
        return last.object if last is not None and last.name == "open" and last.object.part == "lid" else None

    def _lay_lid(self, owner: Entity, clause: Clause) -> None:
        """Close with the lid if it goes back on; a lid laid elsewhere is no object of its own, and only taken off."""
        targets = [np for p in clause.places if p.phrase.relation in ("on", "in", None) for np in p.targets]
        own = any(np.kind == "pronoun" or np.category == owner.category for np in targets)
        if own or (not clause.places and clause.result != "down"):
            return self._act("close", [owner])
        if self._lid_off() is not owner:
            self._act("open", [owner])
        self.rejected.append(clause.tokens)
        for place in clause.places:
            for np in filter(self._known, place.targets):
                self.talk.mention([e for e in self.talk.resolve(np) if isinstance(e, Entity)])
        return None

    def _lift(self, objects: Sequence[Entity]) -> None:
        for entity in objects:
            self._take(entity, "pick up")
        self.talk.mention(objects)

    def _place(self, clause: Clause) -> None:
        off = self._lid_off()
        if (
            off is not None
            and clause.objects
            and all(np.kind == "pronoun" and np.head == "it" for np in clause.objects)
        ):
            return self._lay_lid(off, clause)
        objects = self._entities(clause, test=movable, action="place")
        if self._of_lid(clause) and (clause.places or clause.result):
            return self._lay_lid(objects[0], clause)
        if clause.word in ("leave", "leaving") and self.talk.held not in objects:
            return self._locate(objects, clause.places)
        if clause.result in ("open", "closed") and not clause.places:
            return self._act("open" if clause.result == "open" else "close", objects)
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
            if clause.result == "back" or clause.word in ("return", "returning"):
                return self._put_back(objects)
            if clause.word in lex.RELEASING and self.talk.held is not None:
                return self._let_go(objects)
            raise UsageError(
                f"it is not said where to place the {objects[0].category.replace('_', ' ')}.",
                hint="Say for example: … on the plate.",
            )
        if all(self._own_base(np, objects) for np in goal.targets):
            self.rejected += [np.tokens for np in goal.targets]
            return self._release(objects, TABLE, "on")
        self._put(objects, goal, clause)
        return None

    _go = _place

    def _own_base(self, np: NounPhrase, objects: Sequence[Entity]) -> bool:
        """Return whether a place is what the thing itself stands on: ``back on its base``, no thing of the scene."""
        return np.part == "base" and np.owner is None and np.category in (None, *(e.category for e in objects))

    def _put_down(self, objects: Sequence[Entity]) -> None:
        last = self.steps[-1] if self.steps else None
        if last is None or last.object not in objects or last.name != "place":
            self._release(objects, TABLE, "on")

    def _put_back(self, objects: Sequence[Entity]) -> None:
        """Put things where they were to begin with, as far as that was said, else on the table."""
        for entity in objects:
            home = next((edge for edge in self.relations if edge[0] is entity and edge[2] not in objects), None)
            if home is None:
                self._put_down([entity])
            else:
                self._release([entity], home[2], home[1])

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
        each = any(np.every for np in goal.targets)
        if not each or len(objects) != 1 or n < 2 or not clause.objects or clause.objects[0].definite:
            return objects
        several = [*objects]
        while len(several) < n:
            found = self.talk.resolve(clause.objects[0], exclude=several)
            several += [e for e in found if isinstance(e, Entity) and e not in several]
        return several

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
        relation = goal.phrase.relation or checks.default_goal(target.info, entity.info)
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
        if clause.side is not None:
            checks.require_above(clause.side, target=False)
        objects = self._entities(clause, test=movable, action="hold")
        goal = self._split_places(clause, objects, goals=True)
        for entity in objects:
            self._take(entity, "hold")
            target = self._targets(goal, objects)[0] if goal else None
            relation = goal.phrase.relation if goal else None
            checks.require_above(relation, target=target is not None)
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
        self._pile(objects, target, inward=goal is not None and goal.phrase.relation == "in")

    def _pile(self, objects: Sequence[Entity], target: Referent | None, *, inward: bool = False) -> None:
        """Put things on one another, in order; ``inward``, the first in the target and its like into each other."""
        rest = list(objects)
        if target is None:
            if len(rest) < 2:
                raise UsageError("it is not said what to stack it on.", hint="Say for example: … on the blue cube.")
            target, *rest = rest
        for entity in rest:
            relation: RelationName = "on"
            if isinstance(target, Entity):
                nests = inward and (entity is rest[0] or entity.category == target.category)
                nests = nests and (target.info.receives_in or not target.info.receives_on)
                relation = checks.settle(entity.info, "in" if nests else "on", target.info)
            self._take(entity, "stack")
            self.steps.append(Step("place", entity, target, relation))
            entity.moved, self.talk.held = True, None
            target = self.talk.top = entity
        self.talk.mention(objects)

    def _push(self, clause: Clause) -> None:
        self._shift("push", clause)

    def _pull(self, clause: Clause) -> None:
        self._shift("pull", clause)

    def _shift(self, name: PrimitiveName, clause: Clause) -> None:
        swings = clause.result in ("open", "closed")
        objects = self._entities(clause, test=lambda e: openable(e) or (movable(e) and not swings), action=name)
        if clause.result in ("open", "closed") and all(map(openable, objects)):
            return self._act("close" if clause.result == "closed" else "open", objects)
        if clause.distance_m is not None and clause.distance_m <= 0:
            raise UsageError(
                f"nothing can be moved by {clause.distance_m:g} m.",
                hint="Say a positive distance and a direction: 10 cm to the left.",
            )
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
            self.steps.append(Step(name, entity, target, relation, entity.spot, clause.distance_m))
            entity.moved = True
        self.talk.mention(objects)
        return None

    def _act(self, name: PrimitiveName, objects: Sequence[Entity]) -> None:
        for entity in objects:
            checks.require(entity.info, name, checks.has_opening_part)
            entity.manipulated = True
            self.steps.append(Step(name, entity, spot=entity.spot))
        self.talk.mention(objects)

    def _open(self, clause: Clause) -> None:
        objects = self._entities(clause, test=openable, action="open")
        self._split_places(clause, objects, goals=False)
        self._act("open", objects)

    def _close(self, clause: Clause) -> None:
        objects = self._entities(clause, test=openable, action="close")
        self._split_places(clause, objects, goals=False)
        self._act("close", objects)
