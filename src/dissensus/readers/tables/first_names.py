"""First names: columns that are called like persons have the answers of one annotator each."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIRST_NAMES = frozenset(  # none that is also a word for a question, such as joy or hope
    """
    aaron abdul abigail adam adrian agnes ahmad ahmed aisha alan albert alejandro alessandro alex
    alexander alexandra alfred ali alice alicia alina alison amanda amelia amina amir amy ana
    andrea andreas andrew andrzej angela anita anja ann anna anne annika antoine anton antonio
    antonia anya ari ariana arjun arthur astrid barbara bart beatrice ben benjamin bernard
    bernd beth birgit bjorn bob boris brian bruno camille carl carla carlos carmen carol caroline
    catherine cecilia charles charlotte chiara chloe chris christian christina christine
    christopher claire clara claudia cleo colin connor cristina dana daniel daniela dave david
    deborah denis dennis diana diego dieter dina dmitri dmitry dominik dora dorothy edith eduardo
    edward elena eleanor elias elif elisa elisabeth elizabeth ella ellen elsa emil emilia emily
    emma emmanuel eric erik erika esther ethan eva eve evelyn fabian farah fatima federico felix
    fernando fiona florian francesca francesco francisco francois frida fritz gabriel gabriela
    georg george gianna gina giovanni giulia greta guido gustav hana hanna hannah hans harry hassan
    heidi heike helen helena helga henrik henry hugo ian ibrahim ida igor ines ingrid irene irina
    isaac isabel isabella ivan jack jacob jake jakob jamal james jan jana jane janet jasmin jason
    javier jean jeff jennifer jenny jens jessica jim joan joanna joao joe johan johann johanna john
    jonas jonathan jorge jose josef joseph joshua juan judith julia julian juliana julie julien
    jurgen kai karen karin karl karla karolina katarina kate katharina katherine kathrin katja kaya
    keiko kenji kevin khalid klaus kofi kristina lara lars laura lea lena leo leon leonie leonardo
    leyla li liam lily linda linh lisa lorenzo louis louise luca lucas lucia lucy luis luisa luka
    lukas magda maja malik manuel marc marcel marco marcus margaret maria mariam marie marina mario
    marion markus marta martha martin martina mary maryam mateo matthew matthias maurice mehmet mei
    melanie mia michael michel michelle miguel mikhail mila ming miriam mohamed mohammed monica
    monika moritz muhammad nadia naomi natalia natalie nathan nicholas nick nicola nicolas nicole
    nikita nils nina noah noor nora norbert olaf oleg olga oliver olivia omar oscar otto pablo paola
    paolo patricia patrick paul paula paulina pedro peter petra philip philipp pierre priya
    rachel rafael rahul raj ralf ramon raul rebecca renate ricardo richard rita robert roberto
    roger roland roman ron rosa ruth ryan sabine salma sam samantha samir samuel sandra sara
    sarah sasha sean sebastian selin sergei silke silvia simon simone sofia sofie sonia sonja sophia
    sophie stefan stefanie stella stephan stephanie stephen steven susan susanne svetlana sven
    sylvia takeshi tamara tanja tanya tatiana teresa theo theresa thomas tim tina tobias tom tomas
    tony udo ulrich ulrike ursula uwe valentina valeria vanessa vera veronica victor victoria
    viktor vincent vladimir walter wei werner william wolfgang yan yara yasmin yuki yusuf yvonne
    zara zeynep zoe zofia
    """.split()
)


def are_persons(names: Sequence[str]) -> bool:
    """Whether each name begins with another first name.

    Example:
        >>> are_persons(["Anna", "Ben K.", "carla_2"]), are_persons(["anna_rude", "anna_funny"])
        (True, False)
    """
    words = [re.match(r"[^\W\d_]*", name) for name in names]
    first = [word[0].casefold() for word in words if word is not None]
    return len(set(first)) == len(names) and _FIRST_NAMES.issuperset(first)
