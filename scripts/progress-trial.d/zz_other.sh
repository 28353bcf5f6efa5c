# Elixir, Ruby, PHP, shell, and tools that nobody knows.

OK='s/"bad"/"ok"/'
p_exunit() {
    mkdir -p lib test
    printf 'defmodule Shop.MixProject do\n  use Mix.Project\n  def project, do: [app: :shop, version: "0.1.0"]\nend\n' >mix.exs
    echo '_build/' >.gitignore
    { echo 'defmodule Shop do'; for i in $(each); do echo "  def v$i, do: \"bad\""; done; echo end; } >lib/shop.ex
    echo 'ExUnit.start()' >test/test_helper.exs
    { printf 'defmodule ShopTest do\n  use ExUnit.Case\n\n  test "fine" do\n    assert true\n  end\n'; for i in $(each); do printf '\n  test "item %d" do\n    assert Shop.v%d() == "ok"\n  end\n' "$i" "$i"; done; echo end; } >test/shop_test.exs
}
tool exunit p_exunit "lib/shop.ex|\"bad\"|$OK" 'mix test' 'elixir --version | tail -1'
p_ruby_values() { { echo 'module Shop'; for i in $(each); do echo "  V$i = \"bad\""; done; echo end; } >shop.rb; }
p_rspec() { p_ruby_values; { printf 'require_relative "shop"\n\nRSpec.describe Shop do\n  it("is fine") {}\n'; for i in $(each); do printf '\n  it "has item %d" do\n    expect(Shop::V%d).to eq("ok")\n  end\n' "$i" "$i"; done; echo end; } >shop_spec.rb; }
tool rspec p_rspec "shop.rb|\"bad\"|$OK" 'rspec shop_spec.rb' 'rspec --version'
p_minitest() { p_ruby_values; { printf 'require "minitest/autorun"\nrequire_relative "shop"\n\nclass ShopTest < Minitest::Test\n  def test_fine; end\n'; for i in $(each); do printf '\n  def test_item_%d\n    assert_equal "ok", Shop::V%d\n  end\n' "$i" "$i"; done; echo end; } >shop_test.rb; }
tool minitest p_minitest "shop.rb|\"bad\"|$OK" 'ruby shop_test.rb' 'ruby --version'
p_phpunit() {
    mkdir tests
    { printf '<?php\n\nfinal class Shop\n{\n'; for i in $(each); do echo "    const V$i = \"bad\";"; done; echo '}'; } >shop.php
    { printf '<?php\n\nrequire_once __DIR__ . "/../shop.php";\n\nfinal class ShopTest extends PHPUnit\\Framework\\TestCase\n{\n    public function testFine(): void\n    {\n        $this->assertTrue(true);\n    }\n'
      for i in $(each); do printf '\n    public function testItem%d(): void\n    {\n        $this->assertSame("ok", Shop::V%d);\n    }\n' "$i" "$i"; done; echo '}'; } >tests/ShopTest.php
    echo .phpunit.result.cache >.gitignore
}
tool phpunit p_phpunit "shop.php|\"bad\"|$OK" 'phpunit tests' 'phpunit --version'
p_shell() { { echo '#!/bin/sh'; for i in $(each); do echo "echo \$item_$i"; done; } >shop.sh; sed -i '1a # shellcheck disable=SC2154' shop.sh; }
tool shellcheck p_shell 'shop.sh|^echo [$]|d' 'shellcheck shop.sh' 'shellcheck --version | sed -n 2p'
tool shellcheck_gcc p_shell 'shop.sh|^echo [$]|d' 'shellcheck -f gcc shop.sh' 'shellcheck --version | sed -n 2p'

# Three tools without a reader: lines with words, blocks of several lines, and findings that differ only in numbers.
words=(alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu amber bronze copper denim ebony fuchsia garnet hazel indigo jade khaki lilac maroon navy)
p_words() {
    for i in $(each); do echo "${words[$((i - 1))]} bad"; done >records.txt
    cat >check.sh <<'CHECK'
#!/bin/sh
echo "checking $(wc -l <records.txt) records"
awk '$2 == "bad" { print "problem with field width in record " $1; n++ } END { exit n > 0 }' records.txt
CHECK
    chmod +x check.sh
}
tool invented_lines p_words 'records.txt| bad|s/ bad/ ok/' './check.sh' 'echo 1'
p_blocks() {
    p_words
    cat >check.sh <<'CHECK'
#!/bin/sh
awk '$2 == "bad" { print "Finding in " $1 ":"; print "    the width of the field is wrong"; print "    see the handbook, chapter fields"; print ""; n++ }
     END { print n + 0 " findings"; exit n > 0 }' records.txt
CHECK
}
tool invented_blocks p_blocks 'records.txt| bad|s/ bad/ ok/' './check.sh' 'echo 1'
p_numbers() {
    for i in $(each); do echo "$i bad"; done >records.txt
    cat >check.sh <<'CHECK'
#!/bin/sh
awk '$2 == "bad" { print "record " $1 " is too wide"; n++ } END { exit n > 0 }' records.txt
CHECK
    chmod +x check.sh
}
tool invented_numbers p_numbers 'records.txt| bad|s/ bad/ ok/' './check.sh' 'echo 1'
