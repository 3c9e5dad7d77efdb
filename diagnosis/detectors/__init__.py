"""One file for each kind of trouble; `DETECTORS` is the list, first speaks first."""

from diagnosis.detectors.detector import Detector
from diagnosis.detectors.divergence import Divergence
from diagnosis.detectors.grad_norm_lead import GradNormLead
from diagnosis.detectors.hidden_nan import HiddenNan
from diagnosis.detectors.jump import PlainJump
from diagnosis.detectors.loss_scale import LossScale
from diagnosis.detectors.nonfinite import NonFinite
from diagnosis.detectors.plateau import Plateau
from diagnosis.detectors.slowdown import Slowdown
from diagnosis.detectors.spike import Spike
from diagnosis.detectors.sustained import Sustained
from diagnosis.detectors.telling_line import TellingLine

DETECTORS: tuple[type[Detector], ...] = (
    NonFinite,
    HiddenNan,
    TellingLine,
    LossScale,
    Divergence,
    Spike,
    Sustained,
    GradNormLead,
    Slowdown,
    PlainJump,
    Plateau,
)

__all__ = ["DETECTORS", "Detector"]
