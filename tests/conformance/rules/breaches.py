"""All breaches, from the files that define them by what they are about."""

import breaches_annotations  # noqa: F401
import breaches_colors  # noqa: F401
import breaches_content  # noqa: F401
import breaches_file  # noqa: F401
import breaches_fonts  # noqa: F401
import breaches_images  # noqa: F401
import breaches_metadata  # noqa: F401
import breaches_sound  # noqa: F401
import breaches_tagged_annotations  # noqa: F401
import breaches_tags  # noqa: F401
from breach import BREACHES

__all__ = ["BREACHES"]
