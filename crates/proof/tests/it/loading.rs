//! What settings of runners and scripts of checks load and run; and product that they load, too.

use crate::inputs::check;

#[test]
fn settings_that_are_code() {
    let files: &[(&str, &str)] = &[
        ("package.json", "{\"scripts\": {\"test\": \"jest\", \"lint\": \"eslint src\"}}"),
        ("jest.config.js", "module.exports={...require(\"./config/base\"), entry: \"./src/index.js\"};\n"),
        (
            "config/base.js",
            "const t = require('./more');\nmodule.exports={setupFiles: ['<rootDir>/config/boot.js']};\n",
        ),
        ("config/more.js", "module.exports={};\n"),
        ("config/boot.js", "global.N=require('./values').n;\n"),
        ("config/values.js", "exports.n=2;\n"),
        (
            "vitest.config.ts",
            "import base from \"./build/base\";\nimport { version } from './src/version';\n",
        ),
        ("build/base.ts", "export default {};\n"),
        (
            "eslint.config.mjs",
            "import rules from \"./rules/all.mjs\";\nconst p = await import('./rules/p.mjs');\n",
        ),
        ("rules/all.mjs", "import nox from './nox.mjs';\nexport default [nox];\n"),
        ("rules/nox.mjs", "export default {};\n"),
        ("rules/p.mjs", "export default {};\n"),
        (
            "webpack.config.js",
            "const path=require('path');module.exports=require(path.join(__dirname,'webpack','common'));\n",
        ),
        ("webpack/common.js", "module.exports={entry: './src/index.js'};\n"),
        ("src/version.ts", "export const version = '1';\n"),
        ("src/index.js", "import { version } from './version';\n"),
        ("src/add.js", "exports.add=(a,b)=>a-b;\n"),
        (
            "test/add.test.js",
            "const {add}=require(\"../src/add\");test(\"adds\",()=>{expect(add(2,2)).toBe(4)});\n",
        ),
    ];
    check(
        files,
        &[
            ("required", "npm test", "config/base.js", 'D'),
            ("required by that", "npm test", "config/more.js", 'D'),
            ("set up by that", "npm test", "config/boot.js", 'D'),
            ("values of that", "npm test", "config/values.js", 'D'),
            ("imported", "npx vitest", "build/base.ts", 'D'),
            ("imported by the linter", "npm run lint", "rules/all.mjs", 'D'),
            ("a rule", "npm run lint", "rules/nox.mjs", 'D'),
            ("imported when it runs", "npm run lint", "rules/p.mjs", 'D'),
            ("joined", "npm test", "webpack/common.js", 'D'),
            ("of product and settings", "npx vitest", "src/version.ts", '.'),
            ("an entry of the product", "npm test", "src/index.js", '.'),
            ("what is tested", "npm test", "src/add.js", '.'),
        ],
    );
}

#[test]
fn settings_without_a_package() {
    let files: &[(&str, &str)] = &[
        ("eslint.config.js", "const p=require(\"./lint/p\");module.exports=[{plugins:{p}}];\n"),
        ("lint/p.js", "module.exports={rules:{nox:require(\"./nox\")}};\n"),
        ("lint/nox.js", "module.exports={};\n"),
        ("src/add.js", "exports.add=(a,b)=>a-b;\n"),
    ];
    check(
        files,
        &[
            ("the settings", "eslint src", "eslint.config.js", 'D'),
            ("a plugin", "eslint src", "lint/p.js", 'D'),
            ("its rule", "eslint src", "lint/nox.js", 'D'),
            ("the source", "eslint src", "src/add.js", '.'),
        ],
    );
}

#[test]
fn settings_that_are_data() {
    let files: &[(&str, &str)] = &[
        (
            "tsconfig.json",
            "{\"extends\":\"./config/base.json\",\"include\":[\"src\"],\"files\":[\"src/a.ts\"]}",
        ),
        ("config/base.json", "{\"extends\": \"./strict\"}"),
        ("config/strict.json", "{}"),
        ("config/other.json", "{}"),
        (".eslintrc.json", "{\"extends\": [\"eslint:recommended\", \"./config/lint.js\"]}"),
        ("config/lint.js", "module.exports={rules: require('./rules')};\n"),
        ("config/rules.js", "module.exports={};\n"),
        ("ruff.toml", "extend = \"config/base.toml\"\n"),
        ("config/base.toml", "[lint]\nselect = [\"F\"]\n"),
        (".pylintrc", "[MAIN]\nload-plugins=lintext,\n    checkers.more\n"),
        ("lintext.py", "from checkers import names\n"),
        ("checkers/__init__.py", ""),
        ("checkers/more.py", "def register(linter):\n    pass\n"),
        ("checkers/names.py", "NAMES = []\n"),
        (".mocharc.json", "{\"require\":[\"./infra/boot.js\"]}"),
        ("infra/boot.js", "global.N=require(\"./values\").n;global.add=require('../src/add').add;\n"),
        ("infra/values.js", "exports.n=2;\n"),
        (".rubocop.yml", "inherit_from:\n  - config/style.yml\n"),
        ("config/style.yml", "Layout: {}\n"),
        ("src/a.ts", "export function f(x) { return x; }\n"),
        ("src/add.js", "exports.add=(a,b)=>a-b;\n"),
        ("test/add.js", "const {add}=require(\"../src/add\");it(\"adds\",()=>{same(add(N,N),2*N)});\n"),
    ];
    check(
        files,
        &[
            ("extended", "tsc -p .", "config/base.json", 'D'),
            ("extended by that", "tsc -p .", "config/strict.json", 'D'),
            ("another file", "tsc -p .", "config/other.json", '.'),
            ("a source of the settings", "tsc -p .", "src/a.ts", '.'),
            ("of eslint", "eslint .", "config/lint.js", 'D'),
            ("of what eslint extends", "eslint .", "config/rules.js", 'D'),
            ("of ruff", "ruff check .", "config/base.toml", 'D'),
            ("a plugin of pylint", "pylint calc.py", "lintext.py", 'D'),
            ("another plugin of pylint", "pylint calc.py", "checkers/more.py", 'D'),
            ("loaded by the plugin", "pylint calc.py", "checkers/names.py", 'D'),
            ("required by mocha", "mocha", "infra/boot.js", 'D'),
            ("required by that", "mocha", "infra/values.js", 'D'),
            ("product of what mocha requires", "mocha", "src/add.js", '.'),
            ("of rubocop", "rubocop", "config/style.yml", 'D'),
        ],
    );
}

#[test]
fn what_prepares_tests_in_python() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("server.py", "from flask import Flask\n\ndef create():\n    return Flask(__name__)\n"),
        ("shop/__init__.py", ""),
        ("shop/main.py", "from shop import models\n\ndef create():\n    return models.X\n"),
        ("shop/models.py", "X = 1\n"),
        ("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p infra.plugin\n"),
        ("infra/__init__.py", ""),
        ("infra/plugin.py", "import pytest\nfrom infra.table import PAIR\n"),
        ("infra/table.py", "PAIR = (2, 2, 4)\n"),
        ("infra/values.py", "from .deep import ROWS\n\ndef pairs():\n    return [row for row in ROWS]\n"),
        ("infra/deep.py", "ROWS = [(2, 2, 4)]\n"),
        (
            "conftest.py",
            "import pytest\nfrom infra.values import pairs\nfrom server import create\nfrom shop.main import create as shop\nimport limits\nimport rates\n",
        ),
        ("limits.py", "MOST = 4\n"),
        ("rates.py", "VAT = 4\n"),
        ("pay.py", "from rates import VAT\n"),
        (
            "tests/test_goal.py",
            "from calc import add\n\ndef test_add(pair):\n    assert add(*pair[:2]) == pair[2]\n",
        ),
    ];
    check(
        files,
        &[
            ("a plugin's table", "pytest", "infra/table.py", 'D'),
            ("imported by conftest", "pytest", "infra/values.py", 'D'),
            ("imported by that", "pytest", "infra/deep.py", 'D'),
            ("values beside the product", "pytest", "limits.py", 'D'),
            ("values of the product", "pytest", "rates.py", '.'),
            ("what is tested", "pytest", "calc.py", '.'),
            ("a server that fixtures start", "pytest", "server.py", '.'),
            ("a package that fixtures start", "pytest", "shop/main.py", '.'),
            ("what that uses", "pytest", "shop/models.py", '.'),
        ],
    );
    let only: &[(&str, &str)] = &[
        ("app.py", "from flask import Flask\napp = Flask(__name__)\n"),
        ("numbers.py", "N = 2\n"),
        ("conftest.py", "import pytest\nfrom app import app\n"),
        ("tests/test_app.py", "def test_app(client):\n    assert client.get('/')\n"),
    ];
    check(
        only,
        &[("all of the product", "pytest", "app.py", '.'), ("not loaded", "pytest", "numbers.py", '.')],
    );
}

#[test]
fn what_prepares_tests_in_ruby_and_php() {
    let ruby: &[(&str, &str)] = &[
        ("lib/calc.rb", "def add(a, b) = a - b\n"),
        (".rspec", "--require ./config/boot\n"),
        ("config/boot.rb", "require_relative \"../lib/calc\"\nrequire_relative \"values\"\n"),
        ("config/values.rb", "N = 2\n"),
        ("spec/spec_helper.rb", "require_relative '../support/rows'\nrequire 'calc'\n"),
        ("support/rows.rb", "ROWS = [[2, 2, 4]]\n"),
        (
            "spec/calc_spec.rb",
            "require 'spec_helper'\ndescribe('add') { it('adds') { expect(add(N, N)).to eq 4 } }\n",
        ),
        (
            "Rakefile",
            "require_relative \"build/steps\"\nimport 'tasks/more.rake'\nrequire './lib/calc'\ntask(:verify) { Steps.run }\n",
        ),
        (
            "build/steps.rb",
            "require_relative \"../lib/calc\"\nmodule Steps\n  def self.run\n    abort \"FAIL add\" unless add(2, 2) == 4\n  end\nend\n",
        ),
        ("tasks/more.rake", "require_relative '../build/other'\n"),
        ("build/other.rb", "module Other\n  def self.run = abort(\"FAIL\")\nend\n"),
    ];
    check(
        ruby,
        &[
            ("loaded by what rspec requires", "rspec", "config/values.rb", 'D'),
            ("what is tested", "rspec", "lib/calc.rb", '.'),
            ("loaded by the helper", "rspec", "support/rows.rb", 'D'),
            ("steps of rake", "rake verify", "build/steps.rb", 'D'),
            ("steps of a file of rake", "rake verify", "build/other.rb", 'D'),
            ("what rake tests", "rake verify", "lib/calc.rb", '.'),
        ],
    );
    let php: &[(&str, &str)] = &[
        ("src/calc.php", "<?php\nfunction add($a, $b) { return $a - $b; }\n"),
        ("phpunit.xml", "<phpunit bootstrap=\"boot.php\"></phpunit>"),
        (
            "boot.php",
            "<?php\nrequire __DIR__ . \"/inc/env.php\";\nrequire_once __DIR__ . \"/src/calc.php\";\n",
        ),
        ("inc/env.php", "<?php\ndefine(\"N\", 2);\n"),
        ("tests/CalcTest.php", "<?php\nclass CalcTest extends TestCase {}\n"),
    ];
    check(
        php,
        &[
            ("required by the bootstrap", "phpunit", "inc/env.php", 'D'),
            ("what is tested", "phpunit", "src/calc.php", '.'),
        ],
    );
}

#[test]
fn what_scripts_of_python_run() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        (
            "tools/verify.py",
            "import runpy, os\nhere = os.path.dirname(__file__)\nns = runpy.run_path(os.path.join(here, \"cmp.py\"))\nfrom calc import add\n",
        ),
        (
            "tools/pieces.py",
            "ns = runpy.run_path(os.path.join(here, \"cmp\" + \".py\"))\nsubprocess.call([sys.executable, 'calc.py'])\n",
        ),
        ("tools/inner.py", "subprocess.call([sys.executable, os.path.join(here, \"steps\", \"one.py\")])\n"),
        ("tools/cmp.py", "def same(a, b):\n    return a == b\n"),
        ("tools/steps/one.py", "from calc import add\n"),
        (
            "tools/loop.py",
            "import importlib, pathlib\nfor f in pathlib.Path(\"tools/rules\").glob(\"*.py\"):\n    m = importlib.import_module(\"rules.\" + f.stem)\n",
        ),
        ("tools/rules/add.py", "from calc import add\n"),
        ("ci/__init__.py", ""),
        (
            "ci/__main__.py",
            "import pkgutil, importlib\nfrom ci import steps\nfor m in pkgutil.iter_modules(steps.__path__):\n    importlib.import_module(f\"ci.steps.{m.name}\")\n",
        ),
        ("ci/steps/__init__.py", ""),
        ("ci/steps/sums.py", "from calc import add\n"),
        (
            "run.py",
            "import pathlib, subprocess\nfor f in pathlib.Path(\"jobs\").iterdir():\n    subprocess.call([sys.executable, str(f)])\n",
        ),
        ("jobs/a.py", "from calc import add\n"),
        (
            "all.py",
            "import pathlib, subprocess\nfor f in pathlib.Path(\"examples\").iterdir():\n    subprocess.call([sys.executable, str(f)])\nfor f in os.listdir('addons'):\n    importlib.import_module('addons.' + f)\n",
        ),
        ("examples/a.py", "print(1)\n"),
        ("addons/a.py", "print(1)\n"),
        ("plug.py", "def load():\n    return os.listdir('addons')\n"),
        ("calcs/__init__.py", "def add(a, b):\n    return a - b\n"),
        (
            "calcs/verify.py",
            "from calcs import add\nfrom calcs.compare import same\nfrom calcs.parsing import parse\n",
        ),
        ("calcs/compare.py", "def same(a, b):\n    return a == b\n"),
        ("calcs/parsing.py", "def parse(text):\n    return text.split()\n"),
    ];
    check(
        files,
        &[
            ("joined", "python3 tools/verify.py", "tools/cmp.py", 'D'),
            ("in pieces", "python3 tools/pieces.py", "tools/cmp.py", 'D'),
            ("what is run to test it", "python3 tools/pieces.py", "calc.py", '.'),
            ("joined twice", "python3 tools/inner.py", "tools/steps/one.py", 'D'),
            ("by a pattern", "python3 tools/loop.py", "tools/rules/add.py", 'D'),
            ("by a pattern, added", "python3 tools/loop.py", "tools/rules/new.py", 'D'),
            ("modules of a package", "python3 -m ci", "ci/steps/sums.py", 'D'),
            ("of a directory", "python3 run.py", "jobs/a.py", 'D'),
            ("of a directory, not run", "python3 tools/verify.py", "jobs/a.py", '.'),
            ("examples", "python3 all.py", "examples/a.py", '.'),
            ("plugins of the product", "python3 all.py", "addons/a.py", '.'),
            ("a comparison inside the product", "python3 -m calcs.verify", "calcs/compare.py", 'D'),
            ("product beside it", "python3 -m calcs.verify", "calcs/parsing.py", '.'),
            ("the package", "python3 -m calcs.verify", "calcs/__init__.py", '.'),
        ],
    );
}

#[test]
fn what_scripts_of_other_languages_run() {
    let files: &[(&str, &str)] = &[
        ("src/add.js", "exports.add=(a,b)=>a-b;\n"),
        (
            "ci/run.js",
            "const fs=require(\"fs\"),path=require(\"path\");for(const f of fs.readdirSync(path.join(__dirname,\"steps\"))){require(path.join(__dirname,\"steps\",f))()}\n",
        ),
        ("ci/steps/a.js", "const {add}=require(\"../../src/add\");module.exports=()=>add(2,2)===4;\n"),
        (
            "gate/run.mjs",
            "for(const n of [\"sums\"]){const m=await import(`./parts/${n}.mjs`);m.default()}\n",
        ),
        ("gate/parts/sums.mjs", "export default ()=>true;\n"),
        ("every.js", "fs.readdirSync('src').forEach((f) => require('./src/' + f));\n"),
        ("steps.rb", "Dir[File.join(__dir__, 'parts', '*.rb')].each { |f| load f }\n"),
        ("parts/a.rb", "abort 'FAIL' unless add(2, 2) == 4\n"),
        ("steps.php", "<?php\nforeach (glob(__DIR__ . '/inc/*.php') as $f) { require $f; }\n"),
        ("inc/a.php", "<?php\nif (add(2, 2) !== 4) exit(1);\n"),
    ];
    check(
        files,
        &[
            ("listed", "node ci/run.js", "ci/steps/a.js", 'D'),
            ("imported by a template", "node gate/run.mjs", "gate/parts/sums.mjs", 'D'),
            ("all sources", "node every.js", "src/add.js", '.'),
            ("of ruby", "ruby steps.rb", "parts/a.rb", 'D'),
            ("of php", "php steps.php", "inc/a.php", 'D'),
        ],
    );
}

#[test]
fn what_shells_and_make_run_by_patterns() {
    let files: &[(&str, &str)] = &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("check.sh", "#!/bin/sh\nset -e\nfor s in add mul; do PYTHONPATH=. python3 \"steps/$s.py\"; done\n"),
        (
            "more.sh",
            "#!/bin/sh\nfor s in $(cat order); do . \"parts/${s}.sh\"; done\npython3 \"src/$1.py\"\n",
        ),
        ("steps/add.py", "from calc import add\nassert add(2,2)==4\n"),
        ("parts/a.sh", "[ 1 = 1 ] || exit 1\n"),
        ("src/tool.py", "print(1)\n"),
        (
            "Makefile",
            "STEPS := $(wildcard steps/*.py)\nSRCS := $(wildcard src/*.c)\ncheck: $(STEPS:steps/%.py=run-%)\nrun-%:\n\tPYTHONPATH=. python3 steps/$*.py\n\
             loop:\n\tfor s in $(STEPS); do python3 $$s; done\neach: $(STEPS)\n$(STEPS):\n\tpython3 $@\nbuild: $(SRCS)\n\tcc -o app $(SRCS)\n.PHONY: $(STEPS)\n",
        ),
        ("src/main.c", "int main(void) { return 0; }\n"),
    ];
    check(
        files,
        &[
            ("a loop of a shell", "./check.sh", "steps/add.py", 'D'),
            ("a loop of a check", "for s in add; do python3 steps/$s.py; done", "steps/add.py", 'D'),
            ("sourced in a loop", "sh more.sh", "parts/a.sh", 'D'),
            ("a program of the product", "sh more.sh", "src/tool.py", '.'),
            ("a pattern of make", "make check", "steps/add.py", 'D'),
            ("a loop of make", "make loop", "steps/add.py", 'D'),
            ("targets of make", "make each", "steps/add.py", 'D'),
            ("another target", "make build", "steps/add.py", '.'),
            ("sources", "make build", "src/main.c", '.'),
        ],
    );
}
