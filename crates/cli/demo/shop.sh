# A till. Prices are in cents.

# The sum of some prices.
total() {
    sum=0
    for price in "$@"; do
        sum=$((sum + price))
    done
    echo "$sum"
}

# A price with the discount of the season: fifteen percent.
discounted() {
    echo $(($1 - $1 / 10))
}

# A price as it is printed.
printed() {
    echo "$(($1 / 100)).$(($1 % 100)) EUR"
}
