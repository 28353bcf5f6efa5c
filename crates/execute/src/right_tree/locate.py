# Asks a Python where it would import modules from. The current directory does not count: `pytest` does not look there.
import importlib.util
import json
import os
import sys

sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.getcwd()]
found = {}
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        continue
    if spec is not None:
        places = [spec.origin] + list(spec.submodule_search_locations or [])
        found[name] = [os.path.abspath(place) for place in places if place and os.sep in place]
print("FIXPOINT " + json.dumps(found))
