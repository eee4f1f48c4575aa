"""Pouring and filling: which thing is poured from, which receive, and what the other phrases are about."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.assets.catalog import category_info
from armwright.core.errors import UsageError
from armwright.language import checks
from armwright.language import lexicon as lex
from armwright.language._grounding import Grounding, Step, pours
from armwright.language._items import Clause, Place
from armwright.language._referents import Entity, Referent
from armwright.language.lexicon import RelationPhrase


class Pouring(Grounding):
    """Compiles clauses of *pour* and *fill*."""

    def _pour(self, clause: Clause) -> None:
        self._from_contents(clause)
        source = self._pour_source(clause)
        goals = self._pour_goals(clause.places)
        below = self._below(source)
        if not goals and below is not None:
            return self._pour_into(source, [below])
        if not goals:
            raise UsageError("it is not said what to pour into.", hint="Say for example: … into the bowl.")
        self._locate_around(clause.places, [source], source=source, goals=goals)
        targets: list[Referent] = []
        for goal in goals:
            targets += self._targets(goal, [source], test=lambda e: checks.can_receive_pour(e.info))
        return self._pour_into(source, targets)

    def _from_contents(self, clause: Clause) -> None:
        """Take ``the water in the kettle`` as ``the water from the kettle``, if it is said later what to pour into."""
        first = clause.places[0] if len(clause.places) > 1 else None
        contents = bool(clause.objects) and all(np.kind == "substance" for np in clause.objects)
        if contents and first is not None and first.phrase == RelationPhrase("in"):
            first.phrase, first.explicit = RelationPhrase("in", source=True), False

    def _below(self, source: Entity) -> Entity | None:
        """Return what the source is held over."""
        last = self.steps[-1] if self.steps else None
        if last is None or last.name != "hold" or last.object is not source or not isinstance(last.target, Entity):
            return None
        return last.target

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

    def _pour_source(self, clause: Clause, *, exclude: Sequence[Entity] = ()) -> Entity:
        contents = [np for np in clause.objects if np.kind in ("substance", "unknown") or np.head == lex.EVERYTHING]
        named = [np for np in clause.objects if np not in contents]
        sources = [np for p in clause.places if p.phrase.source for np in p.targets]
        for np in [*sources, *named]:
            found = self.talk.resolve(np, exclude=exclude if np.kind == "pronoun" else (), test=pours)
            if found and isinstance(found[0], Entity):
                if np.part and np.part != "lid":
                    self._hold_by(found[:1], np.part)  # type: ignore[arg-type]
                if clause.region is not None and clause.region.part:
                    self._hold_by(found[:1], clause.region.part)  # type: ignore[arg-type]
                return found[0]
        if self.talk.held is not None and self.talk.held not in exclude:
            return self.talk.held
        known = [e for e in self.talk.salient if checks.can_pour(e.info) and e not in exclude]
        if known:
            return known[-1]
        raise UsageError("it is not said what to pour from.", hint="Say for example: pour the kettle into the bowl.")

    def _fill(self, clause: Clause) -> None:
        receivers = self._entities(clause, action="fill")
        source = self._pour_source(Clause("pour", places=clause.places), exclude=receivers)
        self._locate_around(clause.places, receivers, source=source, goals=())
        self._pour_into(source, receivers)
