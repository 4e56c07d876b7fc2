#!/bin/sh
# C243: a written profile is shown as a table, turned into every other format, and read back.
cat >a.folded <<'END'
# of some other tool
train;main;step (train.py:12);matmul 60
train;main;step (train.py:12) 10
train;main;load;copy_to_user_[k] 30
END
"$PITOT" cpu show a.folded --top 3 -o a.html -o a.svg -o a.speedscope.json -o a.pb.gz \
    -o a.trace.json -o a.firefox.json -o a.pitotprof
for file in a.html a.svg a.speedscope.json a.pb.gz a.trace.json a.firefox.json a.pitotprof; do
    [ -s "$file" ] || echo "$file is empty"
done
"$PITOT" cpu show a.pitotprof -o b.folded --top 1
"$PITOT" cpu show -q a.pb.gz -o c.folded
cat b.folded
cmp b.folded c.folded
"$PITOT" cpu show a.pitotprof --lines train.py:step
