# Python tools for the trial.

values_py() { for i in $(each); do echo "V$i = \"bad\""; done >shop_values.py; }
OK='s/"bad"/"ok"/'

p_pytest() {
    values_py
    { echo 'import shop_values'; printf '\n\ndef test_fine():\n    assert True\n'
      for i in $(each); do printf '\n\ndef test_%d():\n    assert shop_values.V%d == "ok"\n' "$i" "$i"; done; } >test_shop.py
}
tool pytest p_pytest "shop_values.py|\"bad\"|$OK" 'pytest -p no:randomly -p no:cacheprovider' 'pytest --version'
tool pytest_quiet p_pytest "shop_values.py|\"bad\"|$OK" './run.sh' 'pytest --version'
project[pytest_quiet]=p_pytest_quiet
p_pytest_quiet() { p_pytest; printf '#!/bin/sh\npytest -q -p no:randomly -p no:cacheprovider\n' >run.sh; chmod +x run.sh; }
tool pytest_tail p_pytest "shop_values.py|\"bad\"|$OK" "bash -c 'set -o pipefail; pytest -p no:randomly | tail -3'" 'pytest --version'
tool compose_pytest p_pytest "shop_values.py|\"bad\"|$OK" "bash -c 'set -o pipefail; pytest -p no:randomly | sed \"s/^/app-1  | /\"'" 'pytest --version'
tool actions_pytest p_pytest "shop_values.py|\"bad\"|$OK" "bash -c 'set -o pipefail; pytest -p no:randomly | sed \"s/^/2026-01-02T03:04:05.1234567Z /\"'" 'pytest --version'

p_unittest() {
    values_py
    { printf 'import unittest\n\nimport shop_values\n\n\nclass ShopTest(unittest.TestCase):\n    def test_fine(self):\n        pass\n'
      for i in $(each); do printf '\n    def test_%d(self):\n        self.assertEqual(shop_values.V%d, "ok")\n' "$i" "$i"; done; } >test_shop.py
}
tool unittest p_unittest "shop_values.py|\"bad\"|$OK" 'python3 -m unittest' 'python3 --version'

p_django() {
    cp -r "$here/../crates/failures/fixtures/projects/django/." . && rm -rf broken
    p_unittest && rm test_shop.py
    { printf 'from django.test import SimpleTestCase\n\nimport shop_values\n\n\nclass ShopTest(SimpleTestCase):\n    def test_fine(self):\n        pass\n'
      for i in $(each); do printf '\n    def test_%d(self):\n        self.assertEqual(shop_values.V%d, "ok")\n' "$i" "$i"; done; } >app/tests.py
}
tool django p_django "shop_values.py|\"bad\"|$OK" 'python manage.py test app' 'django-admin --version'

p_doctest() {
    { for i in $(each); do printf 'def item_%d():\n    """Item.\n\n    >>> item_%d()\n    %d\n    """\n    return "bad"\n\n\n' "$i" "$i" "$i"; done; } >shop.py
    sed -i "s/    return \"bad\"/    return \"bad\"/" shop.py
    awk '/^def item_/ { split($2, a, /[_(]/); n = a[2] } /return "bad"/ { print "    return -" n "  # bad"; next } { print }' shop.py >s && mv s shop.py
}
tool doctest p_doctest 'shop.py|return -|s/return -/return /' 'python3 -m doctest shop.py' 'python3 --version'
tool doctest_pytest p_doctest 'shop.py|return -|s/return -/return /' 'pytest --doctest-modules -p no:randomly shop.py' 'pytest --version'

p_robot() {
    values_py
    { printf '*** Settings ***\nLibrary    shop_library.py\n\n*** Test Cases ***\nFine\n    No Operation\n'
      for i in $(each); do printf '\nItem %d\n    Item Is Ok    %d\n' "$i" "$i"; done; } >shop.robot
    printf 'import shop_values\n\n\ndef item_is_ok(number):\n    if getattr(shop_values, "V" + number) != "ok":\n        raise AssertionError("the item is bad")\n' >shop_library.py
}
tool robot p_robot "shop_values.py|\"bad\"|$OK" 'robot --pythonpath . --output NONE --log NONE --report NONE shop.robot' 'robot --version || true'

p_behave() {
    values_py
    mkdir -p features/steps
    { echo 'Feature: Shop'; for i in $(each); do printf '\n  Scenario: item %d\n    Then the item %d is ok\n' "$i" "$i"; done; printf '\n  Scenario: fine\n    Then all is well\n'; } >features/shop.feature
    printf 'import os\nimport sys\n\nfrom behave import then\n\nsys.path.insert(0, os.getcwd())\nimport shop_values\n\n\n@then("the item {number} is ok")\ndef item(context, number):\n    assert getattr(shop_values, "V" + number) == "ok"\n\n\n@then("all is well")\ndef fine(context):\n    pass\n' >features/steps/steps.py
}
tool behave p_behave "shop_values.py|\"bad\"|$OK" 'behave' 'behave --version'

p_lint() { for i in $(each); do printf 'def item_%d(value):\n    return value == None\n\n\n' "$i"; done | sed '$d' | sed '$d' >shop.py; }
NONE='s/== None/is None/'
tool flake8 p_lint "shop.py|== None|$NONE" 'flake8 shop.py' 'flake8 --version'
tool ruff_concise p_lint "shop.py|== None|$NONE" 'ruff check --no-cache --select E711 --output-format=concise' 'ruff --version'
tool ruff_full p_lint "shop.py|== None|$NONE" 'ruff check --no-cache --select E711 --output-format=full' 'ruff --version'
tool pylint p_lint "shop.py|== None|$NONE" 'pylint --disable=C0114,C0116 shop.py' 'pylint --version'
p_imports() { for i in $(each); do echo "import module_$i"; done >shop.py; }
tool flake8_deleted p_imports 'shop.py|^import|d' 'flake8 shop.py' 'flake8 --version'
p_types() { for i in $(each); do echo "item_$i: int = \"text\""; done >shop.py; }
tool mypy p_types 'shop.py|"text"|s/"text"/1/' 'mypy --cache-dir=/dev/null shop.py' 'mypy --version'
tool pyright p_types 'shop.py|"text"|s/"text"/1/' 'pyright shop.py' 'pyright --version'
