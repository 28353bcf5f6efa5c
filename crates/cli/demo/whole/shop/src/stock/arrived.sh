# What is on the shelf after a delivery.
arrived() {
    echo "$1"
}
