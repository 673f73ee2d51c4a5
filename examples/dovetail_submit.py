"""The commands of Dovetail for spark-submit, which decides about master and settings; ship this file.

spark-submit --master yarn examples/dovetail_submit.py index /shared/lake --to /shared/lake.idx
"""

from dovetail.cli import main

main()
