from .conformal import Conformal as Conformal
from .conformal import coverage_notes as coverage_notes
from .votes import VoteCalibration as VoteCalibration
