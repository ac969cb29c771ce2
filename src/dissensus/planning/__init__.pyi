from .next_answers import next_answers as next_answers
from .reliability import Plan as Plan
from .reliability import plan as plan
from .review import review as review
