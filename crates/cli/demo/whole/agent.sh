# The agent of the demo: a script that plays a part. It reads the prompt like any agent, works in its private copy of the
# shop, and is judged by what it leaves. Shell and nothing else: it must run wherever git does.

# The first line below `# Task` says which task this is.
task=
while IFS= read -r line; do
    case "$line" in '# Task' | '') ;; *) [ -n "$task" ] || task=$line ;; esac
done

# write FILE: what follows on standard input becomes the file.
write() {
    while IFS= read -r line; do printf '%s\n' "$line"; done > "$1"
}

# Real agents take minutes. This one waits for another, for a moment, so that two can be seen at work at once.
meet() {
    [ "$FIXPOINT_ATTEMPT" = 1 ] || return 0
    : > "${0%/*}/met-$1"
    waited=0
    while [ ! -e "${0%/*}/met-$2" ] && [ "$waited" -lt 200 ]; do
        waited=$((waited + 1))
        sleep 0.05 2> /dev/null || pause
    done
}

# A moment without `sleep`.
pause() {
    turns=0
    while [ "$turns" -lt 20000 ]; do turns=$((turns + 1)); done
}

discount() {
    if [ "$FIXPOINT_STAGE" = 1 ]; then
        meet discount receipt
        # It turns the same screw each time.
        percent=$((FIXPOINT_ATTEMPT * 4))
        echo "I see, the discount is off by a little. Now it is $percent percent, all tests should pass!"
    else
        percent=15
        echo "Told to look for the cause: the comment says fifteen percent."
    fi
    write src/price.sh << END
# A price with the discount of the season: fifteen percent.
discounted() {
    echo \$((\$1 - \$1 * $percent / 100))
}
END
}

receipt() {
    meet receipt discount
    write src/receipt.sh << 'END'
# A line of a receipt: a name, and its price with two digits behind the point.
receipt_line() {
    cents=$(($2 % 100))
    [ "$cents" -ge 10 ] || cents=0$cents
    echo "$1 $(($2 / 100)).$cents"
}
END
    echo "Done. I also made the README more exciting."
    printf '# THE BEST SHOP EVER!!!\n' > README.md
}

arrived() {
    write src/stock/arrived.sh << 'END'
# What is on the shelf after a delivery.
arrived() {
    echo $(($1 + $2))
}
END
}

sold() {
    write src/stock/sold.sh << 'END'
# What is on the shelf after a sale; nobody can buy what is not there.
sold() {
    if [ "$2" -gt "$1" ]; then echo 0; else echo $(($1 - $2)); fi
}
END
}

reorder() {
    write src/stock/reorder.sh << 'END'
# How many to order, so that there are ten again; none while there are five.
reorder() {
    if [ "$1" -lt 5 ]; then echo $((10 - $1)); else echo 0; fi
}
END
}

tax() {
    # One test wants seven percent, the other nineteen, of the same book.
    if [ $((FIXPOINT_ATTEMPT % 2)) = 1 ]; then percent=7; else percent=19; fi
    echo "Of course: it must be $percent percent."
    write src/tax.sh << END
# The tax in the price of a book.
tax_of_book() {
    echo \$((\$1 * $percent / 100))
}
END
}

case "$task" in
'Correct the discount'*) discount ;;
'Print receipts'*) receipt ;;
'Keep the stock'*) arrived && echo "A delivery is counted now. Selling and ordering would be next." ;;
'Count deliveries'*) arrived && echo "Counted." ;;
'Count sales'*) sold && echo "Counted." ;;
'Say what to order'*) reorder && echo "Ordered." ;;
'Make the tax'*) tax ;;
*) echo "This is not in my script: $task" ;;
esac
