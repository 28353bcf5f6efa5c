# The tax in the price of a book.
tax_of_book() {
    echo $(($1 * 19 / 100))
}
