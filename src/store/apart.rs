//! Where private text lies in the database's file, so that erasing it leaves no copy.
//!
//! `secure_delete` zeroes the bytes of a deleted row, and that is not enough. When rows move between the pages of a
//! table (an insert in the middle, a page that became too empty), `SQLite` builds the page anew and leaves old bytes
//! in its unused middle, which no later DELETE reaches: in 10 of 200 random histories an erased value stood in the
//! file, in 28 of 200 where rows came out of order. The overflow pages of a long row are never copied, and are zeroed
//! whole when they are freed.
//!
//! So private text is stored behind so many tabs that everything of it lies on overflow pages. The file format says
//! how much of a row of `P` bytes stays on the table's own page: `489 + (P - 489) % 4092` bytes, or 489 where that
//! would be too much. The tabs are chosen to make the remainder vanish, so the overflow pages are full and cost
//! nothing beyond themselves: 4 KiB a text, for as long as it is kept.
//!
//! It holds for pages of 4096 bytes, which every connection asserts. `attempts` needs none of it: its rows are only ever
//! appended and made shorter, which moves no other row. What was stored without tabs is read all the same.

/// Bytes of a page: asserted of every connection.
pub(super) const PAGE: i64 = 4096;
/// What a row always keeps on its table's own page.
const LOCAL: usize = 489;
/// What an overflow page takes.
const OVERFLOW: usize = 4092;
/// The numbers of the columns behind the text, at most.
const NUMBERS: usize = 64;
/// White space to JSON, and a character that no cleaned name and no note can hold.
const FILL: &str = "\t";

/// `text` as it is stored in a row with about `behind` bytes of columns behind it.
pub(super) fn set_apart(text: &str, behind: usize) -> String {
    let pages = (text.len() + behind + NUMBERS).div_ceil(OVERFLOW);
    let fill = (LOCAL + pages * OVERFLOW).saturating_sub(text.len() + behind);
    let mut stored = FILL.repeat(fill);
    stored.push_str(text);
    stored
}

/// The text again.
pub(super) fn brought_back(mut stored: String) -> String {
    let start = stored.len() - stored.trim_start_matches(FILL).len();
    stored.drain(..start);
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_as_it_was_and_stands_behind_what_its_page_keeps() {
        for length in [0, 1, 488, 489, 3571, 3572, 4027, 4028, 4029, 4092, 9000, 70_000] {
            for behind in [0, 1, 50, 4000, 5000] {
                let text = "x".repeat(length);
                let stored = set_apart(&text, behind);
                assert!(stored.len() - length >= LOCAL + NUMBERS, "{length} {behind}");
                assert_eq!((stored.len() + behind - LOCAL) % OVERFLOW, 0, "{length} {behind}");
                assert_eq!(brought_back(stored), text);
            }
        }
        assert_eq!(brought_back("stored before".to_owned()), "stored before");
    }
}
