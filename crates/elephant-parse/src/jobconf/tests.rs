use super::*;
use proptest::prelude::*;

fn clean(xml: &str) -> Conf {
    let (conf, problems) = parse(xml.as_bytes());
    assert!(problems.is_empty(), "{xml}: {problems:?}");
    conf
}

fn value(conf: &Conf, name: &str) -> Option<String> {
    conf.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_owned())
}

#[test]
fn properties_with_entities_cdata_and_sources() {
    let conf = clean(
        "<?xml version=\"1.0\"?><configuration>\n<property><name> a </name><value>x &lt; y &amp;&#65;&#x42;\
         <![CDATA[<&>]]></value><final>true</final><source>job.xml</source></property>\
         <property><name>empty</name><value/></property><property><name>none</name></property>\
         <property><value>nameless</value></property></configuration>",
    );
    assert_eq!(value(&conf, "a").as_deref(), Some("x < y &AB<&>"));
    let mut later = conf.clone();
    later.insert("a".to_owned(), Property { value: "later".to_owned(), is_final: false });
    assert_eq!(later, conf, "final");
    assert_eq!(value(&conf, "empty").as_deref(), Some(""));
    assert_eq!(value(&conf, "none").as_deref(), Some(""));
    assert_eq!(conf.len(), 3);
}

#[test]
fn a_final_property_keeps_its_value() {
    let conf = clean(
        "<conf><property><name>a</name><value>1</value><final>true</final></property>\
         <property><name>a</name><value>2</value></property></conf>",
    );
    assert_eq!(value(&conf, "a").as_deref(), Some("1"));
}

#[test]
fn text_before_the_root_element_is_ignored() {
    for prefix in [
        "\u{feff}",
        "\n  <?xml version=\"1.0\"?>\n",
        "<!-- licence <conf> --><?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>",
        "<?xml-stylesheet href=\"x\"?><!DOCTYPE configuration SYSTEM \"x\">",
        "<!DOCTYPE configuration [<!ENTITY a \"]>\"><!-- don't ]> --><!ENTITY b '&a;'>] >\n",
        "<!DOCTYPE configuration SYSTEM 'a>b' []>",
    ] {
        let xml = format!(
            "{prefix}<configuration><property><name>a</name><value>1</value></property></configuration>"
        );
        assert!(looks_like_conf(xml.as_bytes()), "{xml}");
        assert_eq!(clean(&xml).len(), 1, "{xml}");
    }
    assert!(looks_like_conf(b"<conf\n>"));
}

#[test]
fn other_text_is_not_a_configuration() {
    for head in [
        "",
        "<",
        "<configurations>",
        "<confidential/>",
        "<project><configuration/>",
        "<!-- <conf>",
        "<?xml",
        "{\"conf\":1}",
        "configuration",
        "<conf",
    ] {
        assert!(!looks_like_conf(head.as_bytes()), "{head}");
    }
    let (conf, problems) = parse(b"<html><property><name>a</name></property></html>");
    assert!(conf.is_empty());
    assert_eq!(problems.into_vec()[0].code, DAMAGED);
}

/// The single warning about a configuration that was read only partly.
fn incomplete(xml: &str) -> (Conf, String) {
    let (conf, problems) = parse(xml.as_bytes());
    let mut problems = problems.into_vec();
    assert_eq!(problems.len(), 1, "{xml}: {problems:?}");
    let problem = problems.remove(0);
    assert_eq!((&*problem.code, problem.count, problem.level), (INCOMPLETE, 1, Level::Warning), "{xml}");
    (conf, problem.message)
}

#[test]
fn declared_entities_are_reported_and_not_expanded() {
    let laughs = "<!DOCTYPE conf [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY m \"4096\">]>";
    let property = |inside: &str| format!("<property>{inside}</property>");
    let (conf, message) = incomplete(&format!(
        "{laughs}<conf>{}{}{}{}{}</conf>",
        property("<name>x</name><value>&b;</value>"),
        property("<name>plain</name><value>&#0; a & b</value><description>&b;</description>"),
        property("<name>m</name><value>1024</value>"),
        property("<name>m</name><value>&m;</value><final>true</final>"),
        property("<name>m</name><value>2048</value>"),
    ));
    assert_eq!(conf.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["plain"]);
    assert_eq!(value(&conf, "plain").as_deref(), Some("&#0; a & b"));
    assert!(message.contains("2 properties, starting with \"x\", refer to entities"), "{message}");
    let (conf, message) = incomplete(&format!("{laughs}<conf><property name='x' value='&b;'/></conf>"));
    assert!(conf.is_empty() && message.contains("property \"x\" refers to entities"), "{message}");
    // An earlier final value stays.
    let (conf, _) = incomplete(&format!(
        "{laughs}<conf>{}{}</conf>",
        property("<name>m</name><value>1024</value><final>true</final>"),
        property("<name>m</name><value>&m;</value>"),
    ));
    assert_eq!(value(&conf, "m").as_deref(), Some("1024"));
}

#[test]
fn attributes_are_parts_of_a_property_and_elements_win() {
    let conf = clean(
        "<configuration><property name=\"a\" value=\"1 &lt; 2\"/><property value='2' name=' b ' final='true' source='x'/>\
         <property name=\"b\" value=\"3\"/><property name=\"c\" value=\"4\"><value>5</value></property>\
         <property value=\"nameless\"/><property name=\"d\"><value name='e'>6</value></property></configuration>",
    );
    let values: Vec<_> = conf.iter().collect();
    assert_eq!(values, [("a", "1 < 2"), ("b", "2"), ("c", "5"), ("d", "6")]);
}

#[test]
fn utf16_is_read_with_and_without_a_byte_order_mark() {
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<configuration><property><name>a</name><value>é</value>\
               </property></configuration>";
    for mark in ["", "\u{feff}"] {
        for bytes in [u16::to_le_bytes, u16::to_be_bytes as fn(u16) -> [u8; 2]] {
            let bytes: Vec<u8> = format!("{mark}{xml}").encode_utf16().flat_map(bytes).collect();
            assert!(looks_like_conf(&bytes) && looks_like_conf(&bytes[..140]));
            let (conf, problems) = parse(&bytes);
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(value(&conf, "a").as_deref(), Some("é"));
            let (conf, problems) = parse(&bytes[..bytes.len() - 1]);
            assert_eq!(conf.len(), 1);
            assert!(!problems.is_empty());
        }
    }
}

#[test]
fn an_empty_result_always_has_a_warning() {
    for inside in [
        "",
        "<!-- nothing -->",
        "<property><value>1</value></property>",
        "<Property><Name>a</Name></Property>",
        "<properties><entry key=\"a\">1</entry></properties>",
        "a=1",
    ] {
        let (conf, message) = incomplete(&format!("<configuration>{inside}</configuration>"));
        assert!(conf.is_empty() && message.contains("has no named property"), "{message}");
    }
    let include = "<xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"x.xml\"/>";
    let (_, message) = incomplete(&format!("<configuration>{include}</configuration>"));
    assert!(message.contains("an included document was not read"), "{message}");
}

#[test]
fn damage_keeps_the_properties_before_it() {
    let first = "<conf><property><name>a</name><value>1</value></property>";
    let second = "<property><name>b</name><value>2</val";
    for tail in [second, "<property><name>b</value></property></conf>", "<", ""] {
        let (conf, problems) = parse(format!("{first}{tail}").as_bytes());
        assert_eq!(conf.len(), 1, "{tail}");
        let problems = problems.into_vec();
        assert_eq!((problems.len(), &*problems[0].code, problems[0].count), (1, DAMAGED, 1), "{tail}");
        assert!(matches!(problems[0].position, Some(Position::Byte(at)) if at >= first.len() as u64));
    }
}

#[test]
fn nested_elements_are_not_part_of_a_value() {
    let conf = clean(
        "<configuration><configuration><property><name>a</name><value>1<b>2</b>3</value>\
         <x><name>n</name></x></property></configuration></configuration>",
    );
    assert_eq!(value(&conf, "a").as_deref(), Some("13"));
}

proptest! {
    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (parse(&bytes), looks_like_conf(&bytes));
    }

    #[test]
    fn no_markup_panics(pieces in prop::collection::vec(prop::sample::select(vec![
        "<conf>", "<property>", "<name>", "</name>", "<value>", "</value>", "</property>", "</conf>", "<value/>",
        "&", "&amp;", "&#", "&#x110000;", ";", "<![CDATA[", "]]>", "<!--", "-->", "<?xml", "?>", "<!DOCTYPE", "é",
        "a", " ", "<", ">", "/>", "\"", "'", "[", "]",
    ]), 0..40)) {
        let text = pieces.concat();
        let _ = (parse(text.as_bytes()), looks_like_conf(text.as_bytes()));
    }
}

#[test]
fn the_first_source_tells_whether_a_value_is_a_default() {
    let text = "<configuration><property><name>a</name><value>1</value><source>mapred-default.xml</source>\
                <source>job.xml</source></property><property><name>b</name><value>1</value><source>programatically\
                </source><source>mapred-default.xml</source></property><property><name>c</name><value>1</value>\
                </property></configuration>";
    // A comment is left to the XML parser.
    for text in [text.to_owned(), text.replace("<configuration>", "<configuration><!-- -->")] {
        let conf = clean(&text);
        let told = ["a", "b", "c"].map(|name| conf.is_default(name));
        assert_eq!(told, [Some(true), Some(false), None], "{text}");
    }
}
