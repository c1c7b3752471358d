"""English words of grammar: articles, pronouns, prepositions, conjunctions, auxiliaries, negations; a list of ours."""

from __future__ import annotations

STOP_WORDS = frozenset(
    "a an the this that these those some any each every either neither both all such no none "
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves who whom whose which what whoever whatever one ones "
    "of in on at by for with from to into onto out off up down over under about above below after before between "
    "through during against among across along around behind beside besides beyond near since toward towards until "
    "upon within without per via like as than "
    "and or but nor so yet if because although though while whereas unless whether when where why how that then "
    "am is are was were be been being do does did done doing have has had having will would shall should can could may "
    "might must ought need ll ve re d s m t don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven "
    "not n't never there here too very just also only again once now ever even still".split()
)
