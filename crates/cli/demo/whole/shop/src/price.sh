# A price with the discount of the season: fifteen percent.
discounted() {
    echo $(($1 - $1 / 10))
}
