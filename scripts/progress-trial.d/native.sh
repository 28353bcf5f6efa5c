# Compiled languages and their tests for the trial.

p_rust_values() {
    mkdir -p src tests
    printf '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
    printf '/target\nCargo.lock\n' >.gitignore
    for i in $(each); do echo "pub const V$i: &str = \"bad\";"; done >src/lib.rs
    { printf '#[test]\nfn fine() {}\n'; for i in $(each); do printf '\n#[test]\nfn item_%d() {\n    assert_eq!(shop::V%d, "ok");\n}\n' "$i" "$i"; done; } >tests/shop.rs
}
OK='s/"bad"/"ok"/'
tool cargo_test p_rust_values "src/lib.rs|\"bad\"|$OK" 'cargo test' 'cargo --version'
tool cargo_tail p_rust_values "src/lib.rs|\"bad\"|$OK" "bash -c 'set -o pipefail; cargo test 2>&1 | tail -8'" 'cargo --version'
p_rust_errors() {
    p_rust_values && rm -r tests
    for i in $(each); do printf 'pub fn item_%d() -> u32 {\n    missing_%d()\n}\n' "$i" "$i"; done >src/lib.rs
}
tool rustc p_rust_errors 'src/lib.rs|missing_|s/missing_[0-9]*()/1/' 'cargo build' 'rustc --version'
p_clippy() { p_rust_errors; for i in $(each); do printf 'pub fn item_%d(v: Vec<u32>) -> bool {\n    v.len() == 0\n}\n' "$i"; done >src/lib.rs; }
tool clippy p_clippy 'src/lib.rs|len() == 0|s/len() == 0/is_empty()/' 'cargo clippy -- -D clippy::len_zero' 'cargo clippy --version'

p_go_values() {
    printf 'module myapp\n\ngo 1.19\n' >go.mod
    { echo 'package myapp'; echo; for i in $(each); do echo "const V$i = \"bad\""; done; } >shop.go
    { printf 'package myapp\n\nimport "testing"\n\nfunc TestFine(t *testing.T) {}\n'
      for i in $(each); do printf '\nfunc TestItem%d(t *testing.T) {\n\tif V%d != "ok" {\n\t\tt.Errorf("item is %%q, want ok", V%d)\n\t}\n}\n' "$i" "$i" "$i"; done; } >shop_test.go
}
tool go_test p_go_values "shop.go|\"bad\"|$OK" 'go test ./...' 'go version'
p_go_hangs() {
    p_go_values
    printf '\nfunc TestZHangs(t *testing.T) {\n\tfor V%d == "bad" {\n\t\ttime.Sleep(time.Second)\n\t}\n}\n' "$PROBLEMS" >>shop_test.go
    sed -i 's/^import "testing"/import (\n\t"testing"\n\t"time"\n)/' shop_test.go
}
tool go_test_timeout p_go_hangs "shop.go|\"bad\"|$OK" 'go test -timeout 3s ./...' 'go version'
p_go_errors() {
    printf 'module myapp\n\ngo 1.19\n' >go.mod
    { echo 'package main'; echo; echo 'func main() {'; for i in $(each); do printf '\tmissing%d()\n' "$i"; done; echo '}'; } >main.go
}
GONE='main.go|missing|s/missing.*/\/\/ done/'
p_go_test_errors() { p_go_errors; printf 'package main\n\nimport "testing"\n\nfunc TestFine(t *testing.T) {}\n' >main_test.go; }
tool go_test_errors p_go_test_errors "$GONE" 'go test ./...' 'go version'
tool go_build_all p_go_errors "$GONE" 'go build -gcflags=-e -o /dev/null .' 'go version'
tool go_build p_go_errors "$GONE" 'go build -o /dev/null .' 'go version'
p_go_vet() {
    printf 'module myapp\n\ngo 1.19\n' >go.mod
    { printf 'package main\n\nimport "fmt"\n\nfunc main() {\n'; for i in $(each); do printf '\tfmt.Printf("%%d\\n", "item %d")\n' "$i"; done; echo '}'; } >main.go
}
tool go_vet p_go_vet 'main.go|%d|s/%d/%s/' 'go vet ./...' 'go version'
p_golint() {
    printf 'module myapp\n\ngo 1.19\n' >go.mod
    { printf 'package myapp\n'; for i in $(each); do printf '\nfunc item_%d() {}\n' "$i"; done; } >shop.go
}
tool golangci_lint p_golint 'shop.go|item_|s/item_/item/' "$TRIAL_TOOLS/golangci/node_modules/golangci-lint/golangci-lint run --disable-all -E golint --exclude-use-default=false --max-issues-per-linter 0 --max-same-issues 0 ./..." "$TRIAL_TOOLS/golangci/node_modules/golangci-lint/golangci-lint --version"

p_c() { { echo 'void shop(void) {'; for i in $(each); do echo "    missing_$i = 1;"; done; echo '}'; } >shop.c; }
C='shop.c|missing_|d'
tool gcc p_c "$C" 'gcc -c -o /dev/null shop.c' 'gcc --version'
tool gcc_japanese p_c "$C" 'LC_ALL=ja_JP.UTF-8 LANGUAGE=ja gcc -c -o /dev/null shop.c' 'echo x | LC_ALL=ja_JP.UTF-8 LANGUAGE=ja gcc -x c - 2>&1 | grep -q エラー && gcc --version'
tool clang p_c "$C" 'clang -ferror-limit=0 -c -o /dev/null shop.c' 'clang --version'
tool make_gcc p_make "$C" 'make' 'make --version'
p_make() { p_c; printf 'shop.o: shop.c\n\tgcc -c -o /dev/null shop.c\n' >Makefile; }

p_javac() { { echo 'class Shop {'; echo '    void all() {'; for i in $(each); do echo "        missing$i();"; done; printf '    }\n}\n'; } >Shop.java; }
tool javac p_javac 'Shop.java|missing|d' 'javac -d out Shop.java' 'javac -version 2>&1'
p_javac_eight() { PROBLEMS=$((PROBLEMS < 8 ? PROBLEMS : 8)) p_javac; }
tool javac_eight p_javac_eight 'Shop.java|missing|d' 'javac -d out Shop.java' 'javac -version 2>&1'
p_java_values() {
    mkdir -p src/main/java src/test/java
    { echo 'public class Shop {'; for i in $(each); do echo "    public static String v$i() { return \"bad\"; }"; done; echo '}'; } >src/main/java/Shop.java
    { printf '%s\n\nimport %s;\n\npublic class ShopTest {\n    @Test\n    public void fine() {}\n' "import static $1.assertEquals;" "$2"
      for i in $(each); do printf '\n    @Test\n    public void item%d() {\n        assertEquals("ok", Shop.v%d());\n    }\n' "$i" "$i"; done; echo '}'; } >src/test/java/ShopTest.java
    printf 'target/\nbuild/\n.gradle/\n' >.gitignore
}
p_maven() { p_java_values org.junit.jupiter.api.Assertions org.junit.jupiter.api.Test && cp "$here/../crates/failures/fixtures/projects/maven/pom.xml" .; }
tool maven p_maven "src/main/java/Shop.java|\"bad\"|$OK" 'mvn -o -B -Dmaven.repo.local=/usr/share/maven-repo test' 'mvn --version'
p_gradle() { p_java_values org.junit.Assert org.junit.Test && cp "$here/../crates/failures/fixtures/projects/gradle/build.gradle" .; }
tool gradle p_gradle "src/main/java/Shop.java|\"bad\"|$OK" 'gradle --offline --console=plain -Dorg.gradle.daemon.idletimeout=60000 test' 'gradle --version | grep ^Gradle'
jars=$(printf '/usr/share/java/%s.jar:' junit-jupiter-api junit-jupiter-engine junit-jupiter-params apiguardian-api opentest4j junit-platform-commons junit-platform-console junit-platform-engine junit-platform-launcher junit-platform-reporting picocli univocity-parsers)
tool junit_console p_maven "src/main/java/Shop.java|\"bad\"|$OK" "javac -cp $jars -d target src/*/java/*.java && java -cp $jars org.junit.platform.console.ConsoleLauncher --disable-banner --disable-ansi-colors -cp target -c ShopTest" 'javac -version 2>&1'

# Compiled once; the problems are in a file that the tests read.
p_values_txt() { for i in $(each); do echo "V$i=bad"; done >values.txt; }
read_values='#include <fstream>\n#include <string>\nstatic std::string value(int n) {\n    std::ifstream in("values.txt");\n    std::string line, key = "V" + std::to_string(n) + "=";\n    while (std::getline(in, line))\n        if (line.rfind(key, 0) == 0) return line.substr(key.size());\n    return "ok";\n}\n'
compiled() {
    local name=$1 libraries=$2
    [ ! -x "$root/bin/$name" ] || { cat >/dev/null; return; }
    { mkdir -p "$root/bin" && { printf "$read_values"; cat; } >"$root/bin/$name.cpp" && g++ -o "$root/bin/$name" "$root/bin/$name.cpp" $libraries; }
}
p_gtest() {
    p_values_txt
    { echo '#include <gtest/gtest.h>'; for i in $(seq 0 40); do echo "TEST(Shop, Item$i) { EXPECT_EQ(value($i), \"ok\"); }"; done; } | compiled gtest '-lgtest -lgtest_main'
}
tool googletest p_gtest 'values.txt|=bad|s/bad/ok/' "$root/bin/gtest" "dpkg-query -W -f '\${Package} \${Version}' libgtest-dev"
p_catch2() {
    p_values_txt
    { printf '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n'; for i in $(seq 0 40); do echo "TEST_CASE(\"item $i\") { CHECK(value($i) == \"ok\"); }"; done; } | compiled catch2 ''
}
tool catch2 p_catch2 'values.txt|=bad|s/bad/ok/' "$root/bin/catch2" "dpkg-query -W -f '\${Package} \${Version}' catch2"
p_ctest() {
    p_values_txt
    { printf 'cmake_minimum_required(VERSION 3.20)\nproject(shop NONE)\nenable_testing()\nadd_test(NAME fine COMMAND true)\n'; for i in $(each); do echo "add_test(NAME item_$i COMMAND grep -q V$i=ok \${CMAKE_SOURCE_DIR}/values.txt)"; done; } >CMakeLists.txt
    echo build/ >.gitignore
}
tool ctest p_ctest 'values.txt|=bad|s/bad/ok/' 'cmake -S . -B build >/dev/null && ctest --test-dir build' 'ctest --version'
