"""Groups items into clauses: what is done, to what, where; and what is merely said to be there."""

from __future__ import annotations

from armwright.language._arguments import HOLDING, ArgumentReader, things
from armwright.language._items import Clause, Item, NounPhrase, Place
from armwright.language.lexicon import RelationPhrase


class ClauseReader(ArgumentReader):
    """Reads clauses from items, in the order in which they are to be done."""

    def run(self) -> list[Clause]:
        """Return the clauses of the text, sentence by sentence, in order of execution."""
        ordered: list[Clause] = []
        while self._at < len(self._items):
            self._clauses = []
            self._sentence()
            ordered += self._clauses
        return ordered

    def _sentence(self) -> None:
        subjects: list[NounPhrase] = []
        fronted: list[Place] = []
        reorder: tuple[str, int] | None = None
        negated = none = scoped = False
        while (item := self._peek()) is not None:
            if item.kind == "stop":
                self._at += 1
                break
            if item.kind == "conn":
                self._at += 1
                scoped = scoped and item.word == "and"
                if self._elided(item, subjects, fronted):
                    continue
            elif item.kind == "neg":
                self._at += 1
                negated, none = True, item.word == "no"
                self.rejected.append(item.tokens)
            elif item.kind == "order":
                self._at += 1
                reorder = (item.word, len(self._clauses))
                if subjects or fronted:
                    self._describe(subjects, fronted)
                    subjects, fronted = [], []
            elif item.kind == "verb":
                clause = self._verb_clause(item, subjects, fronted)
                subjects, fronted = [], []
                if negated or clause.void or (scoped and self._same_thing(clause)):
                    self._reject(clause)
                    negated, scoped = False, True
                    continue
                scoped = False
                self._append(clause, reorder)
                if reorder is not None and self._order_done(reorder):
                    reorder = None
            elif item.kind == "region":
                held = Clause("hold")
                self._at += 1
                self._region(held)
                self._region_ahead = held.region
            elif item.kind in ("exist", "be", "with"):
                self._at += 1
                if negated or item.word == "without":
                    self._skip_phrase(item)
                    negated = False
                    continue
                self._existence(item, subjects, fronted)
                subjects, fronted = [], []
            elif item.kind == "rel":
                place = self._place()
                joined = self._items[self._at - 3].kind == "conn" if self._at > 2 else False
                place.of = len(fronted) - 1 if not joined else -1
                if subjects and not self._verb_next():
                    place.of = -1
                if place.targets:
                    fronted.append(place)
            elif item.kind == "np" and item.np is not None:
                if negated:
                    self._at += 1
                    self.rejected.append(item.tokens)
                    following = self._peek()
                    if none and following is not None and following.kind in ("verb", "be"):
                        continue
                    self._describe([] if none else things(item.np), [])
                    negated = none = False
                    continue
                if self._gapped() and self._clauses and not fronted and not subjects:
                    self._gap()
                    continue
                subjects += self._nouns()
            else:
                self._at += 1
                self.rejected.append(item.tokens)
        if subjects or fronted:
            self._describe(subjects, fronted)

    def _elided(self, conn: Item, subjects: list[NounPhrase], fronted: list[Place]) -> bool:
        """Read ``…, then the green one`` and ``… and then into the mug``, where the verb is that of the last clause."""
        item = self._peek()
        last = self._clauses[-1] if self._clauses else None
        if conn.word != "then" or item is None or last is None or last.kind == "describe" or subjects or fronted:
            return False
        if item.kind == "rel":
            start = self._at
            place = self._place()
            if self._verb_next() or not place.targets:
                self._at = start
                return False
            objects = [np for np in last.objects if np.kind != "substance"] or last.objects
            for np in objects:
                np.definite = True
            self._clauses.append(Clause(last.kind, last.word, objects, [place]))
            return True
        if item.kind != "np" or self._gapped():
            return False
        start = self._at
        nouns = self._nouns()
        following = self._peek()
        if following is not None and following.kind not in ("stop", "conn"):
            self._at = start
            return False
        self._clauses.append(Clause(last.kind, last.word, nouns, list(last.places), side=last.side, result=last.result))
        return True

    def _same_thing(self, clause: Clause) -> bool:
        """Return whether a clause after *and* goes on about what shall not be done: ``don't take it and drop it``."""
        return all(np.kind == "pronoun" for np in clause.objects)

    def _reject(self, clause: Clause) -> None:
        """Leave out what shall not be done, but keep that its things are there."""
        self.rejected.append(clause.tokens)
        if not clause.void:
            self._describe([thing for np in clause.objects for thing in things(np)], [])

    def _append(self, clause: Clause, reorder: tuple[str, int] | None) -> None:
        """Add a clause where it belongs in time.

        ``before B, A`` and ``A before B`` both mean A then B; ``after B, A`` and ``A after B`` both mean B then A.
        """
        if reorder is None:
            self._clauses.append(clause)
            return
        word, mark = reorder
        leading = mark == 0 or all(c.kind == "describe" for c in self._clauses[:mark])
        if word == "after" and not leading:
            extra = len(self._clauses) - mark
            first = next((k for k, c in enumerate(self._clauses) if c.kind != "describe"), mark)
            start = max(first, mark - 1 - self._span_before(mark))
            self.early += self._clauses[start:]
            self._clauses.insert(start + max(0, extra), clause)
        elif word == "before" and leading and len(self._clauses) > mark:
            self.early.append(self._clauses[-1])
            self._clauses.insert(len(self._clauses) - 1, clause)
        else:
            self._clauses.append(clause)

    def _span_before(self, mark: int) -> int:
        """Count the clauses joined to the one before ``mark`` (``pick X and place it on Y after …``)."""
        return sum(1 for clause in self._clauses[:mark] if clause.kind != "describe")

    def _order_done(self, reorder: tuple[str, int]) -> bool:
        word, mark = reorder
        leading = mark == 0 or all(c.kind == "describe" for c in self._clauses[:mark])
        if word == "before" and leading:
            return len(self._clauses) - mark >= 2
        return False

    def _gap(self) -> None:
        last = self._clauses[-1]
        clause = Clause(last.kind, last.word, self._nouns(), passive=last.passive)
        self._arguments(clause)
        self._clauses.append(clause)

    def _verb_clause(self, item: Item, subjects: list[NounPhrase], fronted: list[Place]) -> Clause:
        assert item.frame is not None
        self._at += 1
        clause = Clause(item.frame, item.word, passive=item.passive, form=item.form)
        first = item.tokens[0]
        self._arguments(clause)
        following = self._peek()
        if following is not None and following.kind == "be" and (ahead := self._peek(1)) and ahead.kind == "verb":
            self._at += 1
            following = ahead
        if clause.kind == "go" and clause.objects and not clause.places and following and following.kind == "verb":
            return self._verb_clause(following, clause.objects, [])
        if clause.region is None:
            clause.region, self._region_ahead = self._region_ahead, None
        parts = [np for np in subjects if np.part]
        if parts and clause.objects and clause.region is None:
            clause.region = parts[0]
        if subjects and not clause.objects:
            clause.objects = subjects
            clause.places = [*fronted, *clause.places] if not clause.places else clause.places
            if clause.places and fronted and clause.places[0] is not fronted[0]:
                for place in fronted:
                    place.explicit = True
                clause.places = [*fronted, *clause.places]
        elif subjects:
            self._describe(subjects, fronted)
        else:
            clause.places = [*fronted, *clause.places]
        end = self._items[self._at - 1].tokens[1]
        clause.tokens = (first, end)
        return clause

    def _skip_phrase(self, item: Item) -> None:
        end = item.tokens[1]
        nouns: list[NounPhrase] = []
        while (following := self._peek()) is not None and following.kind in ("np", "rel", "verb", "region"):
            end = following.tokens[1]
            if following.np is not None:
                nouns += things(following.np)
            self._at += 1
        self.rejected.append((item.tokens[0], end))
        self._describe(nouns, [])

    def _existence(self, item: Item, subjects: list[NounPhrase], fronted: list[Place]) -> None:
        """Read ``there is a mug on the plate`` and ``the mug is on the plate``."""
        if item.kind == "be" and subjects:
            verb = self._peek()
            if verb is not None and verb.kind == "verb":
                clause = self._verb_clause(verb, subjects, fronted)
                self._clauses.append(clause)
                return
        if item.word in HOLDING and not subjects and self._clauses and self._clauses[-1].kind == "describe":
            subjects = self._clauses.pop().objects
        holder = subjects[:1] if item.word in HOLDING and subjects and subjects[0].kind == "object" else []
        if subjects and item.kind == "exist":
            self._describe(subjects, fronted)
            fronted = []
            subjects = []
            for np in holder:
                np.definite = True
        if item.kind != "be":
            self._describe(subjects, [])
        while True:
            following = self._peek()
            named = following is not None and following.kind == "np" and following.np is not None
            if named and item.kind == "be" and subjects and following.np.kind == "pronoun":  # type: ignore[union-attr]
                self._at += 1
                named = False
            nouns = self._nouns() if named else subjects
            places: list[Place] = []
            while (following := self._peek()) is not None and following.kind == "rel":
                place = self._place()
                place.of = len(places) - 1
                places.append(place)
                ahead = 0
                while (joint := self._peek(ahead)) is not None and joint.kind == "conn" and joint.word in (",", "and"):
                    ahead += 1
                if ahead and joint is not None and joint.kind == "rel" and not self._fronts_next(ahead):
                    self._at += ahead
                    place.of = -1
            if holder and not places:
                places = [Place(RelationPhrase(None), holder)]
            self._describe(nouns, [*fronted, *places])
            ahead = 0
            while (joint := self._peek(ahead)) is not None and joint.kind == "conn" and joint.word in (",", "and"):
                ahead += 1
            if not ahead or joint is None or joint.kind != "np" or self._verb_after(ahead):
                return
            self._at += ahead

    def _verb_after(self, ahead: int) -> bool:
        following = self._peek(ahead + 1)
        return following is not None and following.kind in ("verb", "be")
