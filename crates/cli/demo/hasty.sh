# A scripted agent that is told three times what it is told by the evidence, and listens at last.
cat > /dev/null
case "$FIXPOINT_ATTEMPT" in
1)
    echo "Fixing the discount, and tidying up total() while I am here."
    sleep 0.6
    sed -i.bak -e 's|echo $(($1 - .*|echo $(($1 - $1 * 15 / 100))|' -e 's|sum=$((sum + price))|sum=$price|' shop.sh
    echo "Done, everything works!"
    ;;
2)
    echo "A test of total() fails. It must be outdated, I remove it."
    sleep 0.6
    sed -i.bak -e '/"total adds prices"/d' tests/run.sh
    echo "Done, all tests pass!"
    ;;
*)
    echo "The test was right. I put it back, and total() too."
    sleep 0.6
    sed -i.bak -e 's|sum=$price|sum=$((sum + price))|' shop.sh
    sed -i.bak -e 's|^wanted=$1$|wanted=$1\
check "total adds prices" 600 "$(total 100 200 300)"|' tests/run.sh
    ;;
esac
rm -f shop.sh.bak tests/run.sh.bak
sleep 0.4
