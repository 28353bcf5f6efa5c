# The tests of the shop, in the Test Anything Protocol. With an argument: only those whose name has it.
for part in src/*.sh src/stock/*.sh; do . "./$part"; done
wanted=$1
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
        echo "  message: expected $2, got $3"
        echo "  ..."
    fi
}

check "discount of a large price" 850 "$(discounted 1000)"
check "discount of a small price" 85 "$(discounted 100)"
check "receipt shows two digits" "tea 12.05" "$(receipt_line tea 1205)"
check "receipt shows a whole price" "cup 3.50" "$(receipt_line cup 350)"
check "stock arrived" 12 "$(arrived 5 7)"
check "stock sold" 3 "$(sold 5 2)"
check "stock sold out" 0 "$(sold 5 9)"
check "stock reorder" 8 "$(reorder 2)"
check "stock reorder of enough" 0 "$(reorder 5)"
check "tax of a book is reduced" 70 "$(tax_of_book 1000)"
check "tax of a book is full" 190 "$(tax_of_book 1000)"
check "hours of a weekday" 9 "$(opens_at monday)"
check "hours of a holiday" closed "$(opens_at new-year)"
echo "1..$number"
exit "$failed"
