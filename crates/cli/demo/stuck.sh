# A scripted agent that changes something every time and gets nowhere.
cat > /dev/null # It does not even read the prompt.
percent=$((FIXPOINT_ATTEMPT * 4))
echo "I see the problem: the discount is off by a little."
sleep 0.6
sed -i.bak "s|echo \$((\$1 - .*|echo \$((\$1 - \$1 * $percent / 100))|" shop.sh && rm -f shop.sh.bak
echo "Set the discount to $percent percent. All tests should pass now!"
sleep 0.6
