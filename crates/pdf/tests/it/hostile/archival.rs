//! Files that are hard on who makes them archival: each ends, in little memory.

use platen_pdf::{Archive, Error, Operations, Part};

use super::{apply, file, page};

/// What becomes of a file that is to be PDF/A, and of one that is to be PDF/UA as well.
fn archived(objects: &[String]) -> [Result<Vec<u8>, Error>; 2] {
    let bytes = file(objects, "");
    [false, true].map(|accessible| {
        let archive = Archive {
            part: Part::Two,
            accessible,
            ..Archive::default()
        };
        let operations = Operations {
            archive: Some(archive),
            ..Operations::default()
        };
        apply(&bytes, &operations)
    })
}

/// The page with more entries, and objects from number 4 on.
fn with(catalog: &str, entries: &str, more: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut objects = page(catalog);
    objects[2] = format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]{entries}>>");
    objects.extend(more);
    objects
}

fn stream(entries: &str, content: &str) -> String {
    let length = content.len();
    format!("<<{entries}/Length {length}>>\nstream\n{content}\nendstream")
}

/// Names the rule; who only has no memory left does not.
fn refused(made: &Result<Vec<u8>, Error>, reason: &str) {
    match made {
        Err(error) => assert!(error.to_string().contains(reason), "{error}"),
        Ok(_) => panic!("not refused: {reason}"),
    }
}

#[test]
fn patterns_inside_of_patterns_do_not_end_the_process() {
    let pattern = |number: usize| {
        let next = format!("/Resources<</Pattern<</P {} 0 R>>>>", number + 1);
        stream(&format!("/Type/Pattern/PatternType 1{next}"), "")
    };
    let chain = (4..30_004).map(pattern);
    let resources = "/Resources<</Pattern<</P 4 0 R>>>>";
    refused(
        &archived(&with("", resources, chain))[0],
        "nested too deeply",
    );
}

#[test]
fn what_filters_need_is_not_copied_again_and_again() {
    let lists = (4..8).map(|number| format!("[{}]", format!("{} 0 R ", number + 1).repeat(300)));
    let of = format!("/DecodeParms[{}]", "4 0 R ".repeat(100));
    let last = ["[]".to_owned(), stream(&of, "x")];
    let [made, _] = archived(&with("", "", lists.chain(last)));
    assert!(made.is_ok_and(|made| made.len() < 1 << 20));
}

#[test]
fn an_operation_with_millions_of_operands_is_not_read() {
    let content = stream("", &"0 ".repeat(200_000));
    refused(
        &archived(&with("", "/Contents 4 0 R", [content]))[0],
        "content is damaged",
    );
}

#[test]
fn forms_that_borrow_the_same_resources_share_them() {
    let names = (5..2_005).map(|number| format!("/X{number} {number} 0 R"));
    let resources = format!(
        "/Contents 4 0 R/Resources<</ExtGState<</N<</Type/ExtGState>>>>/XObject<<{}>>>>",
        names.collect::<String>()
    );
    let content: String = (5..2_005).map(|number| format!("/X{number} Do ")).collect();
    let form = || stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "/N gs");
    let forms = (5..2_005).map(|_| form());
    let objects = with(
        "",
        &resources,
        [stream("", &content)].into_iter().chain(forms),
    );
    let size = file(&objects, "").len();
    let [made, _] = archived(&objects);
    let made = made.expect("a file");
    assert!(made.len() < 2 * size, "{} of {size}", made.len());
}

#[test]
fn tags_that_many_share_and_tags_of_any_level_end() {
    let tree = "/StructTreeRoot 4 0 R/Lang(en)";
    let kids: String = (6..3_006).map(|number| format!("{number} 0 R ")).collect();
    let mut more = vec![
        format!("<</Type/StructTreeRoot/K[{kids}]>>"),
        format!("[{}]", "0 ".repeat(20_000)),
    ];
    more.extend((6..3_006).map(|_| "<</S/H4294967295/P 4 0 R/Pg 3 0 R/K 5 0 R>>".to_owned()));
    refused(&archived(&with(tree, "", more))[1], "tag `H4294967295`");
}

#[test]
fn cells_that_reach_far_take_no_memory() {
    let tree = "/StructTreeRoot 4 0 R/Lang(en)";
    let cell = |spans: &str, row: usize| format!("<</S/TD/P {row} 0 R/K[]/A<</O/Table{spans}>>>>");
    let rows: String = (7..5_007).map(|number| format!("{number} 0 R ")).collect();
    let mut more = vec![
        "<</Type/StructTreeRoot/K 5 0 R>>".to_owned(),
        format!("<</S/Table/P 4 0 R/K[6 0 R {rows}]>>"),
        format!(
            "<</S/TR/P 5 0 R/K[{} {}]>>",
            cell("/ColSpan 9999", 6),
            cell("/RowSpan 5001", 6)
        ),
    ];
    more.extend((7..5_007).map(|_| "<</S/TR/P 5 0 R/K[]>>".to_owned()));
    refused(&archived(&with(tree, "", more))[1], "do not fit together");
}
