"""The commands of Dovetail for spark-submit, which decides about master and settings; ship this file.

spark-submit --master yarn examples/dovetail_submit.py index s3://lake/raw --to s3://lake/index
"""

from dovetail.cli import main

main()
