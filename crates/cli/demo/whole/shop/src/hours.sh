# When the shop opens on a day.
opens_at() {
    case "$1" in
    sunday) echo closed ;;
    *) echo 9 ;;
    esac
}
