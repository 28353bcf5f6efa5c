//! A check that lacks something in its environment: neither the agent's progress nor its fault.

use super::lab::both;

/// A goal that needs a program, which a file beside the repository stands for.
fn goal(service: &str) -> String {
    format!(
        "[ -f '{service}' ] || {{ echo 'goal.sh: line 3: startdb: command not found'; exit 1; }}\n\
         if [ -f goal ]; then echo 'ok 1 - goal'; else echo 'not ok 1 - goal'; exit 1; fi\n"
    )
}

#[test]
fn what_is_missing_at_the_base_is_named_before_an_agent_starts() {
    both(|lab| {
        let service = lab.beside("service").display().to_string();
        lab.put("goal.sh", &goal(&service));
        let outcome = lab.looping(&["--until", "sh ./goal.sh"], "echo ok > goal");
        assert_eq!(outcome.end(), (7, "failed", "baseline_unusable"));
        let said = lab.explained(&outcome);
        assert!(said.contains("`startdb` is not installed") && said.contains("workspace.setup"), "{said}");
    });
}

#[test]
fn what_goes_missing_later_pauses_the_run_and_is_no_stall() {
    both(|lab| {
        let service = lab.beside("service");
        std::fs::write(&service, "").unwrap();
        lab.put("goal.sh", &goal(&service.display().to_string()));
        let agent = format!("rm -f '{}'; echo $FIXPOINT_ATTEMPT >> tries; echo ok > goal", service.display());
        let outcome = lab.looping(&["--until", "sh ./goal.sh"], &agent);
        assert_eq!(outcome.end(), (7, "paused", "infrastructure"), "{:?}", outcome.json);
        let attempts = outcome.json["iterations"].as_array().map(Vec::len);
        assert_eq!(attempts, Some(2), "the agent was told once: {:?}", outcome.json);
        let said = lab.explained(&outcome);
        assert!(said.contains("`startdb` is not installed") && said.contains("fixpoint resume"), "{said}");
        std::fs::write(&service, "").unwrap();
        assert_eq!(lab.resume(&[]).end(), (0, "done", "done"));
    });
}
