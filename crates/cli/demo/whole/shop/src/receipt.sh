# A line of a receipt: a name, and its price with two digits behind the point.
receipt_line() {
    echo "$1 $(($2 / 100)).$(($2 % 100))"
}
