"""``python -m tablectl.cli``."""

import sys

from tablectl.cli import main

sys.exit(main())
