# Loaded by every Python of a check, after all `.pth` files: packages that are installed in editable mode from the user's
# working tree come from the workspace instead. `moved` beside this file has pairs of lines: a path, and its place in the
# workspace. Then the `sitecustomize` that this file hides is run.


def _redirect():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "moved"), "rb") as file:
        lines = [os.fsdecode(line) for line in file.read().split(b"\n")]
    pairs = sorted(zip(lines[0::2], lines[1::2]), key=lambda pair: -len(pair[0]))

    def moved(path):
        if isinstance(path, str):
            for old, new in pairs:
                if path == old or path.startswith(old + os.sep):
                    return new + path[len(old):]
        return path

    def change(mapping):
        for key, value in list(mapping.items()):
            mapping[key] = [moved(path) for path in value] if isinstance(value, list) else moved(value)

    is_here = lambda path: isinstance(path, str) and os.path.abspath(path or ".") == here
    sys.path[:] = [moved(path) for path in sys.path if not is_here(path)]
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            for table in ("MAPPING", "NAMESPACES"):
                change(getattr(module, table, {}))
    redirector = sys.modules.get("editables.redirector")
    if redirector is not None:
        change(redirector.RedirectingFinder._redirections)
    # Packages that are links in site-packages are found before those links.
    links = os.path.join(here, "links")
    if os.path.isdir(links):
        installed = [at for at, path in enumerate(sys.path) if path.endswith("-packages")]
        sys.path.insert(installed[0] if installed else len(sys.path), links)
    # The metadata of old editable installs is in the working tree, where git ignores it.
    metadata = os.path.join(here, "metadata")
    if os.path.isdir(metadata):
        sys.path.append(metadata)


def _run_hidden():
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _redirect()
finally:
    _run_hidden()
