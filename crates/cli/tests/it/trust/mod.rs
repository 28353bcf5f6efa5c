//! A stranger's repository runs nothing before it is trusted, and what a user trusts works as before.

mod agreement;
mod hostile;
