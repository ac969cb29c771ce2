"""What the simulated texts say: what happens, by aspect and emotion, and words for feelings.

An event names its aspect and suggests its emotion at once ("my boss praised my report"), so that an
encoder can tell which emotion belongs to which aspect even where it averages over a text. Words
vary by synonyms, which a sentence encoder knows to be alike and a bag of words does not.
"""

from __future__ import annotations

from itertools import product

FEELINGS = {  # around the circumplex of affect: five adjectives, then three nouns each
    "joy": "happy|delighted|cheerful|overjoyed|glad|joy|delight|happiness",
    "surprise": "surprised|astonished|amazed|stunned|startled|surprise|astonishment|amazement",
    "fear": "afraid|scared|terrified|frightened|fearful|fear|dread|terror",
    "anger": "angry|furious|enraged|mad|outraged|anger|rage|fury",
    "disgust": "disgusted|revolted|sickened|repelled|nauseated|disgust|revulsion|loathing",
    "sadness": "sad|heartbroken|miserable|gloomy|unhappy|sadness|grief|sorrow",
    "boredom": "bored|uninterested|listless|jaded|indifferent|boredom|tedium|apathy",
    "calm": "calm|relaxed|peaceful|serene|untroubled|calm|serenity|peace",
}
N_ADJECTIVES = 5
N_EVENTS = 3  # of an aspect and an emotion
FIRST_CHOSEN = ("joy", "sadness", "anger", "fear", "calm", "surprise", "boredom", "disgust")

EVENTS = {  # aspect -> emotion -> three events
    "work": {
        "joy": "my boss praised my report|I got the promotion|our team won the contract",
        "surprise": "my boss suddenly resigned|a stranger got the top job"
        "|the office was empty on Monday",
        "fear": "layoffs were announced at the office|my boss threatened to fire me"
        "|a fire broke out at the office",
        "anger": "my boss stole my idea|a colleague blamed me for his mistake"
        "|they cancelled my leave for a meeting",
        "disgust": "my boss clipped his toenails in the meeting"
        "|a colleague left mould in the office fridge|the boss lied to every client",
        "sadness": "I lost my job|my favourite colleague left the company"
        "|the project I had built was shut down",
        "boredom": "the meeting dragged on for hours|I copied numbers into a spreadsheet all day"
        "|my boss repeated the same slides",
        "calm": "the office was quiet this morning|I finished every task before the deadline"
        "|my boss told me to take my time",
    },
    "family": {
        "joy": "my sister had a healthy baby|my son hugged me"
        "|my parents danced at their anniversary",
        "surprise": "my brother turned up from abroad|my mother revealed that I have a twin"
        "|my cousin married in secret",
        "fear": "my daughter vanished in the crowd|my father was rushed to hospital"
        "|my little son climbed onto the roof",
        "anger": "my brother insulted my wife|my sister broke her promise again"
        "|my uncle shouted at the children",
        "disgust": "my uncle spat on the carpet|my cousin cheated on his pregnant wife"
        "|my brother picked his nose at the table",
        "sadness": "my grandmother died|my parents are getting divorced"
        "|my son no longer speaks to me",
        "boredom": "my aunt told the same old story|my grandfather showed us his stamps again"
        "|my cousin talked about the new curtains",
        "calm": "my daughter fell asleep in my arms|my mother hummed an old tune"
        "|my sister and I sat in silence",
    },
    "food": {
        "joy": "the cake was delicious|the chef cooked my favourite pasta"
        "|the first strawberries tasted wonderful",
        "surprise": "the soup was bright blue|the dessert was set on fire"
        "|the chilli tasted of chocolate",
        "fear": "the fish might have been poisonous|I nearly choked on a bone"
        "|the mushrooms were not the edible kind",
        "anger": "the waiter spilled the soup on me|someone ate my lunch"
        "|the restaurant served the steak cold twice",
        "disgust": "there was a cockroach in the salad|the milk was lumpy|the meat smelled rotten",
        "sadness": "my favourite bakery baked its last bread|I ate dinner alone on my birthday"
        "|the cake I baked for her stayed uneaten",
        "boredom": "we had plain rice again|the menu has not changed for years"
        "|the porridge had no taste at all",
        "calm": "I sipped warm tea|the bread was slowly baking in the oven"
        "|we ate our soup without a hurry",
    },
    "weather": {
        "joy": "the sun came out at last|the first snow sparkled|a rainbow stood over the hills",
        "surprise": "it snowed in July|a hailstorm came out of a clear sky"
        "|the fog lifted within a second",
        "fear": "lightning struck next to me|the hurricane was coming closer"
        "|the tornado tore off a roof",
        "anger": "the rain ruined everything again|the forecast was wrong once more"
        "|the hail smashed the windows",
        "disgust": "the flood washed sewage into the street|the heat made the garbage reek"
        "|the damp air smelled of mould",
        "sadness": "the grey November rain would not end|the frost killed my roses"
        "|the last warm day of autumn was over",
        "boredom": "the sky was the same grey for weeks|it drizzled all afternoon"
        "|the forecast said cloudy yet again",
        "calm": "a mild breeze was blowing|soft rain fell on the leaves"
        "|the evening sky was clear and still",
    },
    "travel": {
        "joy": "our dream trip to the islands began|the hotel gave us the sea view"
        "|we reached the summit of our hike",
        "surprise": "the pilot turned the plane around|the train went to another country"
        "|our hotel had moved to a castle",
        "fear": "the plane lost an engine|the bus skidded towards the cliff"
        "|we were followed through a foreign city",
        "anger": "the airline lost my suitcase|the train was cancelled without a word"
        "|a tourist stole our taxi",
        "disgust": "the hotel bed was full of bugs|the train toilet had overflowed"
        "|the man beside me on the plane vomited",
        "sadness": "our journey came to its end|I waved goodbye at the station"
        "|I had to cancel the trip of my life",
        "boredom": "we waited at the gate for hours|the motorway went straight on forever"
        "|the tour guide read out dates",
        "calm": "the boat drifted down the river|I dozed in the slow train"
        "|we walked along an empty beach",
    },
    "money": {
        "joy": "I won the lottery|my salary was doubled|I paid back the last of my debts",
        "surprise": "an unknown aunt left me a fortune|the bank had put a million on my account"
        "|the painting sold for ten times its price",
        "fear": "I could not pay the rent|the debt collector knocked at my door"
        "|my savings were melting away",
        "anger": "the bank charged a fee for nothing|the insurance refused to pay"
        "|the landlord kept my deposit",
        "disgust": "the banker bragged about cheating widows"
        "|the millionaire lit a cigar with a bill|the fund got rich on sick people",
        "sadness": "I had to sell my wedding ring|all that I had saved was gone"
        "|we lost the house to the bank",
        "boredom": "I sorted receipts for the tax return|the banker explained interest rates"
        "|I checked the same invoice three times",
        "calm": "all the bills were paid|my savings will last for years"
        "|the mortgage was settled in good order",
    },
}

WITH_ADJECTIVE = (  # {0} is the event, {1} the feeling
    "{0}, which made me {1}",
    "{0}, which left me {1}",
    "{0} and I was {1}",
    "I was {1} because {0}",
    "I felt {1} when {0}",
    "I was so {1} when {0}",
)
WITH_NOUN = (
    "{0}, which filled me with {1}",
    "{0} and I felt {1}",
    "I was full of {1} when {0}",
    "I felt {1} because {0}",
)
JOINTS = ("; ", ", but ", ", and ", ", while ")

SYNONYMS = {  # words of the events that vary
    word: tuple(f"{word}|{others}".split("|"))
    for word, others in {
        "boss": "manager|supervisor",
        "office": "workplace|firm",
        "colleague": "coworker|teammate",
        "meeting": "conference|briefing",
        "report": "presentation|proposal",
        "contract": "tender|client",
        "job": "position|post",
        "project": "department|programme",
        "praised": "complimented|applauded",
        "stole": "copied|took",
        "quiet": "silent|hushed",
        "sister": "niece|sister-in-law",
        "brother": "nephew|stepbrother",
        "mother": "mum|grandma",
        "father": "dad|grandpa",
        "son": "boy|grandson",
        "daughter": "girl|granddaughter",
        "uncle": "stepfather|brother-in-law",
        "cousin": "godson|stepson",
        "parents": "grandparents|in-laws",
        "hugged": "embraced|kissed",
        "insulted": "mocked|humiliated",
        "shouted": "yelled|screamed",
        "vanished": "disappeared|got lost",
        "died": "passed away|was buried",
        "soup": "broth|stew",
        "cake": "pie|tart",
        "pasta": "lasagne|curry",
        "meat": "chicken|beef",
        "fish": "seafood|tuna",
        "salad": "sandwich|risotto",
        "bread": "pastry|pizza",
        "dinner": "supper|breakfast",
        "lunch": "yoghurt|dessert",
        "delicious": "superb|scrumptious",
        "rotten": "rancid|putrid",
        "restaurant": "bistro|diner",
        "rain": "drizzle|sleet",
        "fog": "mist|haze",
        "sun": "sunshine|blue sky",
        "snow": "snowfall|hoarfrost",
        "hurricane": "cyclone|thunderstorm",
        "lightning": "a thunderbolt|a waterspout",
        "tornado": "storm|gale",
        "breeze": "wind|air",
        "forecast": "weather report|weather map",
        "roses": "tulips|lemon trees",
        "ruined": "spoiled|wrecked",
        "smashed": "shattered|cracked",
        "hotel": "hostel|resort",
        "train": "coach|ferry",
        "plane": "aircraft|jet",
        "bus": "van|car",
        "trip": "voyage|holiday",
        "journey": "tour|cruise",
        "suitcase": "luggage|backpack",
        "station": "airport|harbour",
        "boat": "canoe|raft",
        "beach": "shore|trail",
        "bank": "lender|credit union",
        "banker": "broker|accountant",
        "salary": "wage|pay",
        "debts": "loans|credit",
        "savings": "funds|shares",
        "lottery": "jackpot|sweepstake",
        "rent": "mortgage|tax",
        "fee": "penalty|surcharge",
        "insurance": "tax office|pension fund",
        "landlord": "owner|agency",
        "bills": "invoices|taxes",
        "receipts": "vouchers|statements",
        "ring": "dress|silver",
    }.items()
}

INVENTED_FEELINGS = ("{}", "{}ish", "{}ed", "{}ous", "{}y", "{}ness", "{}hood", "{}ment")
INVENTED_EVENTS = ("the {} was {}", "we had some {} {}", "my {} went {}")
INVENTED_ENDINGS = dict(zip(EVENTS, ("or", "ent", "ique", "ard", "esk", "ule"), strict=True))


def invented(number: int) -> str:
    """A word of two or more syllables that no other number has.

    Example:
        >>> invented(0), invented(1), invented(5000)
        ('tabal', 'mobal', 'datoril')
    """
    syllables = [consonant + vowel for vowel in "aeiou" for consonant in "bdfgklmnprstvz"]
    word, left = "", number * 37 + 11  # so that neighbours do not look alike
    while left or len(word) < 4:
        word += syllables[left % len(syllables)]
        left //= len(syllables)
    return word + "l"


def events(emotion: str) -> list[list[str]]:
    """Three events for each aspect in turn, each in all its wordings."""
    if emotion in FEELINGS:
        every = [
            event for by_emotion in EVENTS.values() for event in by_emotion[emotion].split("|")
        ]
        return [_wordings(event) for event in every]
    return [
        [form.format(aspect, emotion + ending)]
        for aspect, ending in INVENTED_ENDINGS.items()
        for form in INVENTED_EVENTS
    ]


def feelings(emotion: str) -> list[str]:
    """The adjectives, then the nouns, for an emotion."""
    if emotion in FEELINGS:
        return FEELINGS[emotion].split("|")
    return [form.format(emotion) for form in INVENTED_FEELINGS]


def _wordings(event: str) -> list[str]:
    choices = [SYNONYMS.get(word, (word,)) for word in event.split(" ")]
    return [" ".join(words) for words in product(*choices)]
