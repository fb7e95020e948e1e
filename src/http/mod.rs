//! STUB
mod body;
