"""Groups items into clauses: what is done, to what, where; and what is merely said to be there."""

from __future__ import annotations

from armwright.language._items import Clause, Item, NounPhrase, Place
from armwright.language.lexicon import RelationPhrase

_HOLDING = ("contains", "containing", "holds", "has")
"""Verbs whose object is in or on their subject."""


class ClauseReader:
    """Reads clauses from items, in the order in which they are to be done.

    Attributes:
        rejected: Token spans left out of every clause.
        early: Clauses said before others that are to be done first: what they name is known to those.
    """

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._at = 0
        self.rejected: list[tuple[int, int]] = []
        self.early: list[Clause] = []
        self._clauses: list[Clause] = []
        self._region_ahead: NounPhrase | None = None

    def run(self) -> list[Clause]:
        """Return the clauses of the text, sentence by sentence, in order of execution."""
        ordered: list[Clause] = []
        while self._at < len(self._items):
            self._clauses = []
            self._sentence()
            ordered += self._clauses
        return ordered

    def _peek(self, ahead: int = 0) -> Item | None:
        at = self._at + ahead
        return self._items[at] if at < len(self._items) else None

    def _sentence(self) -> None:
        subjects: list[NounPhrase] = []
        fronted: list[Place] = []
        reorder: tuple[str, int] | None = None
        negated = False
        while (item := self._peek()) is not None:
            if item.kind == "stop":
                self._at += 1
                break
            if item.kind == "conn":
                self._at += 1
                if self._elided(item, subjects, fronted):
                    continue
            elif item.kind == "neg":
                self._at += 1
                negated = True
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
                if negated:
                    self._reject(clause)
                    negated = False
                    continue
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
                if subjects and not self._verb_next():
                    place.of = -1
                if place.targets:
                    fronted.append(place)
            elif item.kind == "np" and item.np is not None:
                if negated:
                    self.rejected.append(item.tokens)
                    self._describe(_things(item.np), [])
                    self._at += 1
                    negated = False
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
            self._clauses.append(Clause(last.kind, last.word, objects, [place], instrument=last.instrument))
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

    def _reject(self, clause: Clause) -> None:
        """Leave out what shall not be done, but keep that its things are there."""
        self.rejected.append(clause.tokens)
        self._describe([thing for np in clause.objects for thing in _things(np)], [])

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

    def _verb_next(self) -> bool:
        item = self._peek()
        return item is not None and item.kind == "verb"

    def _nouns(self) -> list[NounPhrase]:
        """Read noun phrases joined by commas and *and*."""
        nouns: list[NounPhrase] = []
        while (item := self._peek()) is not None and item.kind == "np" and item.np is not None:
            nouns.append(item.np)
            self._at += 1
            ahead = 0
            while (
                (following := self._peek(ahead)) is not None
                and following.kind == "conn"
                and following.word in (",", "and")
            ):
                ahead += 1
            after = self._peek(ahead)
            if not ahead or after is None or after.kind != "np":
                break
            if self._peek(ahead + 1) is not None and self._subject_of_verb(ahead):
                break
            self._at += ahead
        return nouns

    def _subject_of_verb(self, ahead: int) -> bool:
        """Return whether the noun phrase ``ahead`` is the subject of a clause of its own."""
        following = self._peek(ahead + 1)
        return (
            following is not None and following.kind in ("be", "verb") and (following.kind == "be" or following.passive)
        )

    def _place(self) -> Place:
        item = self._peek()
        assert item is not None and item.phrase is not None
        self._at += 1
        place = Place(item.phrase, [], item.explicit, tokens=item.tokens)
        following = self._peek()
        if following is not None and following.kind == "np" and following.np is not None:
            place.targets.append(following.np)
            place.tokens = (item.tokens[0], following.tokens[1])
            self._at += 1
        return place

    def _gapped(self, ahead: int = 0) -> bool:
        """Return whether ``NP (and NP)* REL`` follows: a clause whose verb was left out."""
        item = self._peek(ahead)
        while item is not None and item.kind == "np":
            item = self._peek(ahead + 1)
            if item is not None and item.kind in ("rel", "side") and not item.explicit:
                return True
            ahead += 1
            while item is not None and item.kind == "conn" and item.word in (",", "and"):
                ahead += 1
                item = self._peek(ahead)
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
            clause.places += fronted
        end = self._items[self._at - 1].tokens[1]
        clause.tokens = (first, end)
        return clause

    def _arguments(self, clause: Clause) -> None:
        """Read what follows a verb up to the next clause."""
        joined = False
        while (item := self._peek()) is not None:
            if item.kind == "np" and item.np is not None:
                if not clause.objects and not clause.places:
                    clause.objects = self._nouns()
                elif not clause.objects and clause.places and not clause.places[-1].targets:
                    clause.places[-1].targets.append(item.np)
                    self._at += 1
                elif not clause.objects:
                    clause.objects = self._nouns()
                elif item.np.kind in ("pronoun",) and item.np.head == "there":
                    clause.places.append(Place(RelationPhrase(None, goal=True), [item.np]))
                    self._at += 1
                else:
                    return
            elif item.kind == "rel":
                place = self._place()
                if clause.kind in ("push", "pull") and self._particle(clause, place):
                    continue
                place.joined = joined
                joined = False
                place.of = len(clause.places) - 1 if clause.objects or clause.places else -1
                if not place.targets:
                    self.rejected.append(item.tokens)
                    continue
                clause.places.append(place)
            elif item.kind == "region":
                self._at += 1
                self._region(clause)
            elif item.kind == "side":
                clause.side = item.side
                self._at += 1
            elif item.kind == "result":
                clause.result = item.word
                self._at += 1
            elif item.kind == "with":
                following = self._peek(1)
                if following is None or following.kind != "np" or following.np is None or item.word == "without":
                    return
                if clause.kind in ("pour", "fill") or following.np.kind in ("robot", "part", "substance"):
                    clause.instrument = following.np
                    self._at += 2
                    if following.np.kind == "part":
                        clause.instrument = None
                else:
                    return
            elif item.kind == "neg" and (following := self._peek(1)) and following.kind in ("np", "rel", "region"):
                self._at += 1
                self._alternative(item)
            elif item.kind == "exist" and item.word in _HOLDING and clause.objects:
                self._at += 1
                holder = (clause.places[-1].targets if clause.places else clause.objects)[-1:]
                contents = self._nouns()
                self._describe(contents, [Place(RelationPhrase(None), holder)])
            elif item.kind == "conn" and item.word in (",", "and"):
                if not self._continues(clause):
                    return
                joined = item.word == "and" or bool(clause.places and not clause.places[-1].explicit)
            else:
                return

    def _particle(self, clause: Clause, place: Place) -> bool:
        """Read ``pull on the drawer``, ``push in the drawer`` and ``push the drawer in``."""
        inward = place.phrase.relation == "in" and clause.kind == "push"
        if clause.objects:
            if inward and place.targets and place.targets[0].kind == "pronoun":
                clause.result = "closed"
                return True
            return False
        if not inward and place.phrase.relation not in ("on", "next_to"):
            return False
        clause.objects = place.targets
        clause.result = "closed" if inward else clause.result
        return True

    def _alternative(self, item: Item) -> None:
        """Leave out ``not the handle``, ``not on it``, ``or the cup``."""
        end = item.tokens[1]
        while (following := self._peek()) is not None and following.kind in ("np", "rel", "region"):
            end = following.tokens[1]
            self._at += 1
            if following.np is not None:
                self._describe(_things(following.np), [])
                break
        self.rejected.append((item.tokens[0], end))

    def _region(self, clause: Clause) -> None:
        item = self._peek()
        while item is not None and item.kind in ("np", "region"):
            if item.kind == "region":
                self._at += 1
            elif item.np is not None and (item.np.part or item.np.kind == "pronoun"):
                if item.np.part:
                    clause.region = item.np
                self._at += 1
                if item.np.part:
                    return
            else:
                return
            item = self._peek()

    def _continues(self, clause: Clause) -> bool:
        """Consume a comma or *and* if the clause goes on after it."""
        ahead = 0
        while (item := self._peek(ahead)) is not None and item.kind == "conn" and item.word in (",", "and"):
            ahead += 1
        if item is None:
            return False
        if item.kind in ("rel", "region", "side", "neg") and (clause.objects or clause.places):
            if item.kind == "rel" and self._fronts_next(ahead):
                return False
            self._at += ahead
            return True
        if item.kind == "np" and clause.places and not self._gapped(ahead) and not self._subject_of_verb(ahead):
            verb = self._peek(ahead + 1)
            if verb is not None and verb.kind in ("verb", "exist"):
                return False
            assert item.np is not None
            clause.places[-1].targets.append(item.np)
            self._at += ahead + 1
            return True
        return False

    def _fronts_next(self, ahead: int) -> bool:
        """Return whether the relation ``ahead`` opens the next clause (``…, and in the bowl put the banana``)."""
        verb = self._peek(ahead + 2)
        return verb is not None and verb.kind in ("verb", "exist") and not verb.passive

    def _skip_phrase(self, item: Item) -> None:
        end = item.tokens[1]
        nouns: list[NounPhrase] = []
        while (following := self._peek()) is not None and following.kind in ("np", "rel", "verb", "region"):
            end = following.tokens[1]
            if following.np is not None:
                nouns += _things(following.np)
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
        if item.word in _HOLDING and not subjects and self._clauses and self._clauses[-1].kind == "describe":
            subjects = self._clauses.pop().objects
        holder = subjects[:1] if item.word in _HOLDING and subjects and subjects[0].kind == "object" else []
        if subjects and item.kind == "exist":
            self._describe(subjects, fronted)
            fronted = []
            subjects = []
            for np in holder:
                np.definite = True
        if item.kind != "be":
            self._describe(subjects, [])
        while True:
            nouns = self._nouns() if (following := self._peek()) is not None and following.kind == "np" else subjects
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

    def _describe(self, subjects: list[NounPhrase], places: list[Place]) -> None:
        if len(subjects) == 1 and places and places[0].phrase.goal and not places[0].explicit:
            self._clauses.append(Clause("go", "to", list(subjects), list(places)))
        elif subjects or places:
            self._clauses.append(Clause("describe", objects=list(subjects), places=list(places)))


def _things(phrase: NounPhrase) -> list[NounPhrase]:
    """Return the phrase if it names a whole object: it is there even if nothing shall be done with it."""
    return [phrase] if phrase.kind == "object" and phrase.part is None else []
