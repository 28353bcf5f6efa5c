# The tests of the till, in the Test Anything Protocol. With an argument: only the tests whose name contains it.
. ./shop.sh

number=0
failed=0

# check NAME EXPECTED GOT
check() {
    case "$1" in *"$wanted"*) ;; *) return ;; esac
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        failed=1
        echo "not ok $number - $1"
        echo "  ---"
        echo "  message: expected $2, got $3 after $(date +%S) ms at 0x7f$(date +%N)"
        echo "  ..."
    fi
}

wanted=$1
check "total adds prices" 600 "$(total 100 200 300)"
check "total of nothing is nothing" 0 "$(total)"
check "discount is fifteen percent" 850 "$(discounted 1000)"
check "discount of a small price" 85 "$(discounted 100)"
check "prices are printed with two digits" "12.05 EUR" "$(printed 1205)"
echo "1..$number"
exit "$failed"
