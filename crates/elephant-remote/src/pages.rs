//! The answers of an object store, examined before the client of the store reads them: requests that fail are repeated, and
//! pages of a list of objects are checked. The client drops a whole page because of one name that it does not accept, takes
//! a list for whole if a page does not say how to go on or is something else, and follows a store that repeats its pages
//! without end.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::path::Path as Key;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;
use reqwest::Url;
use reqwest::header::RETRY_AFTER;
use thiserror::Error;

use super::Patience;
use super::reason::{METADATA, Reason, causes, short};
use super::transfer::Attempts;

/// The beginning of the message if something else came instead of a page.
pub(super) const NO_LIST: &str = "something else came instead of a list of objects";
/// The pause before the metadata service of the machine is asked again. Most machines have none.
const METADATA_PAUSE: Duration = Duration::from_millis(100);

const UNTOLD: &str = "the store sent the beginning of its list and not how to go on (IsTruncated without \
                      NextContinuationToken), so objects are missing: it knows only version 1 of the list; name folders \
                      with fewer objects, or the objects themselves with --files-from";
const REPEATED: &str = "the store repeats a part of its list (NextContinuationToken is one that it sent before), so \
                        objects may be missing; name folders with fewer objects, or the objects themselves with \
                        --files-from";

/// Makes clients that repeat requests and examine pages.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) lists: Lists,
    pub(super) patience: Patience,
}

impl HttpConnector for Pages {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Examining { client, lists: self.lists.clone(), patience: self.patience }))
    }
}

#[derive(Debug)]
struct Examining {
    client: HttpClient,
    lists: Lists,
    patience: Patience,
}

impl Examining {
    /// The answer to a request, which is repeated as long as it fails for a transient reason.
    async fn answer(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let address = request.uri().to_string();
        let mut patience = self.patience;
        if METADATA.iter().any(|place| address.contains(place)) {
            patience.pause = patience.pause.min(METADATA_PAUSE);
        }
        // The caller waits as long as the patience lasts, and the last failure says more than the end of that wait.
        patience.failing = patience.failing * 9 / 10;
        let mut attempts = Attempts::new(&patience);
        loop {
            let answer = self.client.execute(request.clone()).await;
            let reason = match &answer {
                Ok(answer) => {
                    let pause = answer.headers().get(RETRY_AFTER).and_then(|pause| pause.to_str().ok());
                    Reason::of_status(answer.status().as_u16(), "").after(pause)
                }
                Err(error) => Reason::Passing(causes(error)),
            };
            if attempts.after(reason, false).await.is_err() {
                return answer;
            }
        }
    }
}

/// As the client says it of a body that it reads itself.
#[derive(Debug, Error)]
#[error("list response body: {0}")]
struct Cut(HttpError);

/// What came instead of a page.
#[derive(Debug, Error)]
enum NoPage {
    /// An error, or the list has begun. Another attempt may succeed.
    #[error("{NO_LIST}: {0}")]
    Passing(String),
    /// Whatever answers knows no lists.
    #[error("it is not an object store that answers ({0}); check the address of the endpoint and the proxy")]
    Lasting(String),
}

impl HttpService for Examining {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let asked = Asked::of(&request.uri().to_string());
            let answer = self.answer(request).await?;
            let Some(asked) = asked.filter(|_| answer.status().is_success()) else { return Ok(answer) };
            let (parts, body) = answer.into_parts();
            // Of this kind, the client does not try again, and the list goes on after the last object.
            let body =
                body.bytes().await.map_err(|error| HttpError::new(HttpErrorKind::Unknown, Cut(error)))?;
            if let Some(other) = other_than_page(&body, asked.form) {
                let may_pass = asked.has_begun || other.is_error;
                let error = if may_pass { NoPage::Passing } else { NoPage::Lasting };
                return Err(HttpError::new(HttpErrorKind::Unknown, error(other.said)));
            }
            let body = match self.lists.examined(&asked, &body) {
                Some(rest) => rest.into(),
                None => body.into(),
            };
            Ok(HttpResponse::from_parts(parts, body))
        })
    }
}

/// How a protocol names the parts of a request and of a page.
struct Form {
    /// The parameter that tells that a list is requested.
    asks: (&'static str, &'static str),
    /// The element that a page consists of.
    root: &'static str,
    /// The parameter with the token of the page.
    sends: &'static str,
    item: &'static str,
    name: &'static str,
    /// The token of the next page.
    next: &'static str,
}

const FORMS: [Form; 2] = [
    // Amazon and Google.
    Form {
        asks: ("list-type", "2"),
        root: "ListBucketResult",
        sends: "continuation-token",
        item: "Contents",
        name: "Key",
        next: "NextContinuationToken",
    },
    // Azure.
    Form {
        asks: ("comp", "list"),
        root: "EnumerationResults",
        sends: "marker",
        item: "Blob",
        name: "Name",
        next: "NextMarker",
    },
];

/// The page that a request asks for.
struct Asked {
    form: &'static Form,
    folder: String,
    token: Option<String>,
    /// Whether the list goes on after an object, or after a page.
    has_begun: bool,
}

impl Asked {
    /// `None` if it does not ask for a list.
    fn of(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let value = |name: &str| {
            let mut pairs = url.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let form = FORMS.iter().find(|form| value(form.asks.0).as_deref() == Some(form.asks.1))?;
        let folder = value("prefix").unwrap_or_default().trim_end_matches('/').to_owned();
        let token = value(form.sends);
        let has_begun = token.is_some() || value("start-after").is_some();
        Some(Self { form, folder, token, has_begun })
    }
}

/// An answer that is not a page, such as the login page of a proxy.
#[derive(Debug)]
struct Other {
    /// Whether it is an error of the store.
    is_error: bool,
    said: String,
}

/// What an answer is that is not a page. `None` for a page, and for an answer that ends before it says what it is.
fn other_than_page(body: &[u8], form: &Form) -> Option<Other> {
    let text = String::from_utf8_lossy(body);
    let other = |is_error| Some(Other { is_error, said: short(&text) });
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                let name = tag.local_name();
                let name: &str = name.as_ref();
                return if name == form.root { None } else { other(name == "Error") };
            }
            Ok(Event::Text(said)) if said.trim().is_empty() => {}
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => return other(false),
        }
    }
}

/// What was wrong with the lists of a bucket, by folder. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists(Arc<Mutex<BTreeMap<String, List>>>);

#[derive(Debug, Default)]
struct List {
    /// The tokens of its pages so far.
    tokens: BTreeSet<String>,
    /// Names that the client does not accept.
    unreadable: BTreeSet<String>,
    fault: Option<&'static str>,
}

impl Lists {
    /// Forgets what was wrong when this folder was listed before.
    pub(super) fn begin(&self, folder: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(folder.as_ref());
    }

    /// Why objects of a list are missing.
    pub(super) fn end(&self, folder: &Key) -> Option<Reason> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(folder.as_ref())?;
        list.reason()
    }

    /// A page without what the client must not see; `None` if the client may see all of it.
    fn examined(&self, asked: &Asked, body: &[u8]) -> Option<Vec<u8>> {
        // If the page is cut, the client says so.
        let page = Page::of(std::str::from_utf8(body).ok()?, asked.form)?;
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cuts = lists.entry(asked.folder.clone()).or_default().add(asked, page);
        let mut at = 0;
        let mut rest = Vec::with_capacity(body.len());
        for cut in &cuts {
            rest.extend_from_slice(body.get(at..cut.start).unwrap_or_default());
            at = cut.end;
        }
        rest.extend_from_slice(body.get(at..).unwrap_or_default());
        (!cuts.is_empty()).then_some(rest)
    }
}

impl List {
    /// Adds a page, and returns what the client must not see of it, in order.
    fn add(&mut self, asked: &Asked, page: Page) -> Vec<Range<usize>> {
        if asked.token.is_none() {
            // The list began again.
            self.tokens.clear();
        }
        let mut cuts = Vec::new();
        let mut is_the_same_page = false;
        match page.next {
            Some((range, token)) => {
                is_the_same_page = asked.token.as_ref() == Some(&token);
                let is_known = !self.tokens.insert(token) || is_the_same_page;
                // Some stores repeat the token on the last page.
                let is_last = page.is_truncated == Some(false);
                if is_known {
                    cuts.push(range);
                }
                if is_known && !is_last {
                    self.fault = Some(REPEATED);
                }
                is_the_same_page &= !is_last;
            }
            None if page.is_truncated == Some(true) => self.fault = Some(UNTOLD),
            None => {}
        }
        for (range, name) in page.items {
            let is_unreadable = Key::parse(&name).is_err();
            if is_unreadable {
                self.unreadable.insert(name);
            }
            if is_unreadable || is_the_same_page {
                cuts.push(range);
            }
        }
        cuts.sort_by_key(|cut| cut.start);
        cuts
    }

    fn reason(self) -> Option<Reason> {
        let unreadable = self.unreadable.first().map(|first| {
            let (objects, have) = match self.unreadable.len() {
                1 => ("an object".to_owned(), "has a name"),
                more => (format!("{more} objects"), "have names"),
            };
            format!(
                "{objects} below it {have} that cannot be read, with an empty part, . or .., or a control character (such \
                 as {first:?}); rename or copy what is a history; all others are read"
            )
        });
        let told: Vec<String> = self.fault.map(str::to_owned).into_iter().chain(unreadable).collect();
        (!told.is_empty()).then(|| Reason::Lasting(told.join("; also, ")))
    }
}

/// A page, by the places of its parts.
#[derive(Debug, Default)]
struct Page {
    items: Vec<(Range<usize>, String)>,
    /// The token of the next page.
    next: Option<(Range<usize>, String)>,
    /// Whether the store says that there are more pages.
    is_truncated: Option<bool>,
}

impl Page {
    /// `None` if it is not whole.
    fn of(text: &str, form: &Form) -> Option<Self> {
        let mut page = Self::default();
        let mut reader = Reader::from_str(text);
        let mut open: Vec<(String, usize)> = Vec::new();
        let (mut said, mut name) = (String::new(), None);
        loop {
            let start = usize::try_from(reader.buffer_position()).ok()?;
            match reader.read_event().ok()? {
                Event::Start(tag) => {
                    open.push((tag.name().as_ref().to_owned(), start));
                    said.clear();
                }
                Event::End(_) => {
                    let (tag, start) = open.pop()?;
                    let range = start..usize::try_from(reader.buffer_position()).ok()?;
                    let is_in_item = open.last().is_some_and(|(parent, _)| parent == form.item);
                    let said = std::mem::take(&mut said);
                    if tag == form.name && is_in_item {
                        name = Some(said);
                    } else if tag == form.item {
                        page.items.push((range, name.take().unwrap_or_default()));
                    } else if tag == form.next && !said.is_empty() {
                        page.next = Some((range, said));
                    } else if tag == "IsTruncated" {
                        page.is_truncated = said.trim().parse().ok();
                    }
                }
                Event::Text(text) => said.push_str(&text),
                Event::CData(text) => said.push_str(&text),
                Event::GeneralRef(reference) => {
                    said.extend(reference.resolve_char_ref().ok().flatten());
                    said.push_str(resolve_xml_entity(&reference).unwrap_or_default());
                }
                Event::Eof => return open.is_empty().then_some(page),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(token: Option<&str>) -> Asked {
        let token = token.map(|token| format!("&continuation-token={token}")).unwrap_or_default();
        Asked::of(&format!("https://s3/b?list-type=2&prefix=x%20y%2F{token}")).unwrap()
    }

    fn page(keys: &[&str], rest: &str) -> String {
        let item = |key: &&str| format!("<Contents><Key>{key}</Key></Contents>");
        let items: String = keys.iter().map(item).collect();
        format!("<?xml version=\"1.0\"?><ListBucketResult>{items}{rest}</ListBucketResult>")
    }

    /// The pages that the client sees, and why objects are missing.
    fn seen(pages: &[(Option<&str>, String)]) -> (Vec<String>, Option<Reason>) {
        let lists = Lists::default();
        let see = |(token, page): &(Option<&str>, String)| {
            let rest = lists.examined(&asked(*token), page.as_bytes());
            rest.map_or_else(|| page.clone(), |rest| String::from_utf8(rest).unwrap())
        };
        let pages = pages.iter().map(see).collect();
        (pages, lists.end(&Key::parse("x y").unwrap()))
    }

    const LAST: &str = "<IsTruncated>false</IsTruncated>";

    fn more(token: &str) -> String {
        format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>")
    }

    #[test]
    fn only_requests_for_lists_are_examined() {
        let other = ["https://s3/b/list-type=2", "https://s3/b?list-type=1", "https://a/c?comp=block"];
        assert!(other.iter().all(|address| Asked::of(address).is_none()));
        let azure = Asked::of("https://a/c?restype=container&comp=list&prefix=x%2F&marker=m").unwrap();
        assert_eq!((azure.folder.as_str(), azure.token.as_deref()), ("x", Some("m")));
    }

    #[test]
    fn pages_that_are_whole_or_cut_stay_as_they_are() {
        let pages = [(None, page(&["x y/a&amp;b"], &more("1"))), (Some("1"), page(&["x y/c"], LAST))];
        assert_eq!(seen(&pages), (pages.iter().map(|(_, page)| page.clone()).collect(), None));
        let cut = page(&["x y/a", "x y/a//b"], &more("1")).replace("</ListBucketResult>", "");
        assert_eq!(seen(&[(None, cut.clone())]), (vec![cut], None));
    }

    #[test]
    fn what_is_not_a_page_is_refused() {
        let other = |body: &str| other_than_page(body.as_bytes(), asked(None).form);
        let error =
            "<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code><Message>Wait.</Message></Error>";
        let told = other(error).unwrap();
        assert!(told.is_error && told.said == "InternalError: Wait", "{told:?}");
        for body in ["<html>oops</html>", "<!DOCTYPE html>\n<html><br>", "<html/>", "{\"a\": 1}"] {
            assert!(other(body).is_some_and(|other| !other.is_error), "{body}");
        }
        let page = page(&["a"], LAST);
        // The client says that an answer is cut.
        for body in [page.as_str(), &format!("\u{feff}{page}"), "<ListBucketResult/>", "", "<?xml", "<ListBu"]
        {
            assert!(other(body).is_none(), "{body}");
        }
        let azure = Asked::of("https://a/c?restype=container&comp=list").unwrap().form;
        assert!(other_than_page(b"<EnumerationResults>", azure).is_none());
        assert!(other_than_page(page.as_bytes(), azure).is_some());
    }

    #[test]
    fn names_that_cannot_be_read_are_left_out_and_told() {
        let keys = ["x y/a", "x y/b&#10;c", "x y/d//e", "x y/f"];
        let (pages, reason) = seen(&[(None, page(&keys, LAST))]);
        assert_eq!(pages, [page(&["x y/a", "x y/f"], LAST)]);
        let Some(Reason::Lasting(said)) = reason else { panic!("{reason:?}") };
        assert!(said.starts_with("2 objects below it have names that cannot be read"), "{said}");
        assert!(said.contains(r#"(such as "x y/b\nc")"#), "{said}");
    }

    #[test]
    fn a_list_that_does_not_go_on_is_not_whole() {
        let truncated = page(&["x y/a"], "<IsTruncated>true</IsTruncated>");
        assert_eq!(
            seen(&[(None, truncated.clone())]),
            (vec![truncated], Some(Reason::Lasting(UNTOLD.into())))
        );
    }

    #[test]
    fn a_list_that_repeats_its_pages_ends() {
        let repeated = Some(Reason::Lasting(REPEATED.to_owned()));
        let first = page(&["x y/a"], &more("1"));
        let without = page(&[], "<IsTruncated>true</IsTruncated>");
        assert_eq!(
            seen(&[(None, first.clone()), (Some("1"), first.clone())]),
            (vec![first.clone(), without], repeated.clone())
        );
        // In a circle of two.
        let second = page(&["x y/b"], &more("2"));
        let (pages, reason) = seen(&[(None, first.clone()), (Some("1"), second), (Some("2"), first.clone())]);
        assert_eq!(pages.last(), Some(&page(&["x y/a"], "<IsTruncated>true</IsTruncated>")));
        assert_eq!(reason, repeated);
        // The last page may have the token of itself, and a list may begin again after a failure.
        let last = page(&["x y/b"], &(LAST.to_owned() + "<NextContinuationToken>1</NextContinuationToken>"));
        let pages = [(None, first.clone()), (None, first), (Some("1"), last)];
        assert_eq!(
            seen(&pages),
            (vec![pages[0].1.clone(), pages[1].1.clone(), page(&["x y/b"], LAST)], None)
        );
    }
}
