"""Reads what follows a verb: objects, places, the part to hold by, directions."""

from __future__ import annotations

from armwright.language._items import Clause, Item, NounPhrase, Place
from armwright.language.lexicon import RelationPhrase

HOLDING = ("contains", "containing", "holds", "holding", "has")
"""Verbs whose object is in or on their subject."""


SINGULAR = frozenset(("is", "'s", "sits", "stands", "lies", "rests", "hangs"))
"""Verbs by which a relative clause is about one thing."""


def things(phrase: NounPhrase) -> list[NounPhrase]:
    """Return the phrase if it names a whole object: it is there even if nothing shall be done with it."""
    return [phrase] if phrase.kind == "object" and phrase.part is None else []


class ArgumentReader:
    """A place in the items of a text, and the readers of what belongs to one verb.

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

    def _peek(self, ahead: int = 0) -> Item | None:
        at = self._at + ahead
        return self._items[at] if at < len(self._items) else None

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
        place = Place(
            item.phrase,
            [],
            item.explicit,
            single=item.explicit and not SINGULAR.isdisjoint(item.word.split()),
            tokens=item.tokens,
        )
        following = self._peek()
        if following is not None and following.kind == "np" and following.np is not None:
            place.targets.append(following.np)
            place.tokens = (item.tokens[0], following.tokens[1])
            self._at += 1
            joint, second = self._peek(), self._peek(1)
            if item.phrase.unsupported and joint and joint.word == "and" and second and second.np is not None:
                place.targets.append(second.np)
                place.tokens = (item.tokens[0], second.tokens[1])
                self._at += 2
        return place

    def _gapped(self, ahead: int = 0) -> bool:
        """Return whether ``NP (and NP)* REL`` follows: a clause whose verb was left out."""
        item = self._peek(ahead)
        while item is not None and item.kind == "np":
            item = self._peek(ahead + 1)
            if item is not None and item.kind in ("rel", "side", "region") and not item.explicit:
                return True
            ahead += 1
            while item is not None and item.kind == "conn" and item.word in (",", "and"):
                ahead += 1
                item = self._peek(ahead)
        return False

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
                none = self._peek()
                if not place.targets and none is not None and none.kind == "neg" and none.word == "no":
                    continue
                if not place.targets:
                    self.rejected.append(item.tokens)
                    continue
                clause.places.append(place)
            elif item.kind == "region":
                self._at += 1
                self._region(clause)
            elif item.kind == "side":
                clause.side, clause.side_tokens = item.side, item.tokens
                self._at += 1
            elif item.kind == "length":
                clause.distance_m, clause.distance_tokens = item.length_m, item.tokens
                self._at += 1
            elif item.kind == "result":
                clause.result = item.word
                self._at += 1
            elif item.kind == "with":
                following = self._peek(1)
                if following is None or following.kind != "np" or following.np is None or item.word == "without":
                    return
                if (
                    (rel := self._peek(2))
                    and rel.kind == "rel"
                    and self._own(self._peek(3))
                    and self._last_noun(clause)
                ):
                    self._at += 4
                    assert rel.phrase is not None
                    self._describe(things(following.np), [Place(rel.phrase, [*self._last_noun(clause)])])
                elif clause.kind in ("pour", "fill") and following.np.kind not in ("robot", "part", "substance"):
                    clause.places.append(Place(RelationPhrase(None, source=True), [following.np]))
                    self._at += 2
                elif clause.kind in ("pour", "fill") or following.np.kind in ("robot", "part", "substance"):
                    self._at += 2
                else:
                    return
            elif item.kind == "neg" and (following := self._peek(1)) and following.kind in ("np", "rel", "region"):
                self._at += 1
                if item.word == "no":
                    self._nothing(clause)
                elif item.word == "except":
                    clause.excepted += self._nouns()
                else:
                    self._alternative(item)
            elif item.kind == "exist" and item.word in HOLDING and clause.objects:
                self._at += 1
                holder = self._last_noun(clause)
                contents = self._nouns()
                relation = RelationPhrase(None)
                if (rel := self._peek()) and rel.phrase is not None and self._own(self._peek(1)):
                    relation = rel.phrase
                    self._at += 2
                self._describe(contents, [Place(relation, holder)])
            elif item.kind == "conn" and item.word in (",", "and"):
                if not self._continues(clause):
                    return
                joined = item.word == "and" or bool(clause.places and not clause.places[-1].explicit)
            else:
                return

    def _last_noun(self, clause: Clause) -> list[NounPhrase]:
        return (clause.places[-1].targets if clause.places else clause.objects)[-1:]

    def _own(self, item: Item | None) -> bool:
        """Return whether an item is the *it* of ``the bowl with a banana in it``."""
        return item is not None and item.np is not None and item.np.kind == "pronoun" and item.np.head == "it"

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

    def _nothing(self, clause: Clause) -> None:
        """Read ``no mug``, ``neither the mug nor the cup``: the clause is about nothing."""
        clause.void = True
        while (item := self._peek()) is not None and item.kind in ("np", "neg"):
            self._at += 1

    def _alternative(self, item: Item) -> None:
        """Leave out ``not the handle``, ``not on it``, ``or the cup``."""
        end = item.tokens[1]
        while (following := self._peek()) is not None and following.kind in ("np", "rel", "region"):
            end = following.tokens[1]
            self._at += 1
            if following.np is not None:
                self._describe(things(following.np), [])
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
            self._at += ahead + 1
            if clause.objects and all(place.explicit for place in clause.places):
                self._describe(clause.objects, clause.places)
                clause.objects, clause.places = [*clause.objects, item.np], []
            else:
                clause.places[-1].targets.append(item.np)
            return True
        return False

    def _fronts_next(self, ahead: int) -> bool:
        """Return whether the relation ``ahead`` opens the next clause (``…, and in the bowl put the banana``)."""
        verb = self._peek(ahead + 2)
        return verb is not None and verb.kind in ("verb", "exist") and not verb.passive

    def _describe(self, subjects: list[NounPhrase], places: list[Place]) -> None:
        if len(subjects) == 1 and places and places[0].phrase.goal and not places[0].explicit:
            self._clauses.append(Clause("go", "to", list(subjects), list(places)))
        elif subjects or places:
            self._clauses.append(Clause("describe", objects=list(subjects), places=list(places)))
