# Faults that are asked for happen, are counted by reason, and end.
. /lab/tests/common.sh
net_start
check "a first ping" reaches 10.1.0.2
refused "more than everything" control "fault hca0 in drop 1001"
refused "an unknown fault" control "fault hca0 in explode 1"
grown() { [ "$(drops "$1")" -gt "$2" ]; }
before=$(drops fault-injected)
check "drop all" control "fault hca0 in drop 1000"
refused "no answer" $A ping -c 3 -i 0.2 -W 1 10.1.0.2
check "drops are counted" grown fault-injected "$before"
check "fault off" control "fault hca0 off"
check "answers again" reaches 10.1.0.2
before=$(drops bad-vcrc)
check "corrupt all" control "fault hca0 in corrupt 1000"
refused "no answer" $A ping -c 3 -i 0.2 -W 1 10.1.0.2
check "bad CRCs are counted" grown bad-vcrc "$before"
check "fault off" control "fault hca0 off"
check "answers again" reaches 10.1.0.2
check "duplicate all" control "fault hca0 in duplicate 1000"
check "duplicates are seen" eval '$A ping -c 3 -i 0.2 -W 1 10.1.0.2 | grep -q DUP'
check "fault off" control "fault hca0 off"
check "delay" control "fault hca0 out delay 300"
check "a ping takes long" eval '$A ping -c 1 -W 5 10.1.0.2 | grep -Eq "time=(29[5-9]|[3-9][0-9][0-9]|[0-9]{4})"'
check "fault off" control "fault hca0 off"
check "half of the frames" control "fault hca0 in drop 500"
check "some come through" eventually 20 $A ping -c 1 -W 1 10.1.0.2
check "fault off" control "fault hca0 off"
check "answers every time" reaches 10.1.0.2
finish
