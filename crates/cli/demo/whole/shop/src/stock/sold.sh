# What is on the shelf after a sale; nobody can buy what is not there.
sold() {
    echo "$1"
}
