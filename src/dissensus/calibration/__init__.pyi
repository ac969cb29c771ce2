from .conformal import Conformal as Conformal
from .conformal import coverage_notes as coverage_notes
from .conformal import of_value as of_value
from .votes import VoteCalibration as VoteCalibration
