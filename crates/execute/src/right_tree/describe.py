# Asks a Python what it is and where its packages are.
import json
import site
import sys

places = []
try:
    places += site.getsitepackages()
except Exception:
    pass
try:
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
except Exception:
    pass
places += [path for path in sys.path if path.endswith("-packages")]
print("FIXPOINT " + json.dumps({"version": sys.version, "sites": sorted(set(places))}))
