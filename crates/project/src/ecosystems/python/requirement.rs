//! Names in requirements of Python packages, such as `pytest-cov[toml]>=4; python_version > "3"`.

/// The name of a requirement, in lower case; empty for a comment or an option.
pub(super) fn name_of(requirement: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = requirement.trim().split(|c| !is_name(c)).next().unwrap_or_default();
    if name.starts_with('-') { String::new() } else { name.to_ascii_lowercase().replace('_', "-") }
}

/// Whether a requirement is pytest or one of its plugins.
pub(super) fn is_pytest(requirement: &str) -> bool {
    let name = name_of(requirement);
    name == "pytest" || name.starts_with("pytest-")
}

/// Whether a text can be given to pip as one requirement and shown in a configuration.
pub(super) fn is_plain(requirement: &str) -> bool {
    !name_of(requirement).is_empty()
        && !requirement.contains(['{', '$', '`'])
        && !requirement.chars().any(char::is_control)
}

/// The texts in quotes in some Python code, with comments left out.
pub(super) fn quoted(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for line in code.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'', '#']) {
            let (mark, after) =
                (rest.get(at..=at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
            if mark == "#" {
                break;
            }
            let Some(end) = after.find(mark) else { break };
            texts.push(after.get(..end).unwrap_or_default().to_string());
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_told_by_their_name() {
        for requirement in [
            "pytest",
            " PyTest>=8 # why",
            "pytest-cov==1",
            "pytest_mock",
            "pytest[toml]; python_version > '3'",
        ] {
            assert!(is_pytest(requirement), "{requirement}");
        }
        for requirement in ["# pytest", "nopytest", "pytestify", "", "-r pytest.txt"] {
            assert!(!is_pytest(requirement), "{requirement}");
        }
    }

    #[test]
    fn texts_in_quotes_are_found_in_code() {
        let code = "a = ['x>=1', \"y; z < '3'\"]  # 'no'\n# 'neither'\nb('open";
        assert_eq!(quoted(code), ["x>=1", "y; z < '3'"]);
    }
}
