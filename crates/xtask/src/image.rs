//! A linked image: its symbols, and where in the source each piece of code comes from.

use std::path::Path;

use gimli::{EndianSlice, LittleEndian};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use crate::parts::{self, Part};
use crate::tools::{self, Failure};

/// Bytes in the flash or in the RAM of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The section.
    pub(crate) section: String,
    /// The symbol, demangled.
    pub(crate) symbol: String,
    /// Where it begins.
    pub(crate) address: u64,
    /// How many bytes it takes.
    pub(crate) len: u64,
    /// What they hold in the file; nothing for what is zero from the start.
    pub(crate) bytes: Vec<u8>,
}

/// A linked image.
pub(crate) struct Image {
    bytes: Vec<u8>,
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::Wrong(format!("the image cannot be read: {error}"))
}

impl Image {
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            bytes: tools::read(path)?,
        })
    }

    fn file(&self) -> Result<object::File<'_>, Failure> {
        object::File::parse(&*self.bytes).map_err(wrong)
    }

    /// Everything that the image puts into memory, symbol by symbol; what lies between symbols has an empty name.
    pub(crate) fn pieces(&self) -> Result<Vec<Piece>, Failure> {
        let file = self.file()?;
        let mut pieces = Vec::new();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                continue;
            };
            if !sh_flags.contains(object::elf::SHF_ALLOC) || section.size() == 0 {
                continue;
            }
            let name = section.name().map_err(wrong)?;
            let (start, end) = (section.address(), section.address() + section.size());
            let data = section.data().map_err(wrong)?;
            let mut piece = |symbol: &str, address: u64, len: u64| {
                let from = (address - start) as usize;
                pieces.push(Piece {
                    section: name.to_owned(),
                    symbol: symbol.to_owned(),
                    address,
                    len,
                    bytes: data.get(from..from + len as usize).unwrap_or_default().to_vec(),
                });
            };
            let mut symbols: Vec<(u64, u64, String)> = file
                .symbols()
                .filter(|symbol| symbol.section_index() == Some(section.index()) && symbol.size() > 0)
                .filter(|symbol| {
                    matches!(
                        symbol.kind(),
                        SymbolKind::Text | SymbolKind::Data | SymbolKind::Unknown
                    )
                })
                .map(|symbol| {
                    // The lowest bit of a function's address says that it is Thumb code.
                    let address = symbol.address() & !u64::from(symbol.kind() == SymbolKind::Text);
                    (address, symbol.size(), plain(symbol.name().unwrap_or_default()))
                })
                .collect();
            symbols.sort();
            let mut at = start;
            for (address, len, symbol) in symbols {
                if address > at {
                    piece("", at, address - at);
                }
                let until = (address + len).min(end);
                let from = address.max(at);
                if until > from {
                    piece(&symbol, from, until - from);
                    at = until;
                }
            }
            if end > at {
                piece("", at, end - at);
            }
        }
        Ok(pieces)
    }

    /// The names of all symbols.
    pub(crate) fn symbols(&self) -> Result<Vec<String>, Failure> {
        let file = self.file()?;
        Ok(file
            .symbols()
            .map(|symbol| plain(symbol.name().unwrap_or_default()))
            .collect())
    }

    /// The debug information.
    pub(crate) fn source(&self) -> Result<Source<'_>, Failure> {
        let file = self.file()?;
        let load = |id: gimli::SectionId| -> Result<Slice<'_>, gimli::Error> {
            let data = file
                .section_by_name(id.name())
                .and_then(|section| section.data().ok());
            Ok(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
        };
        let lines =
            addr2line::Context::from_dwarf(gimli::Dwarf::load(load).map_err(wrong)?).map_err(wrong)?;
        let dwarf = gimli::Dwarf::load(load).map_err(wrong)?;
        Ok(Source { lines, dwarf })
    }
}

/// A symbol's name without the hash.
fn plain(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// A function at a place in the source.
pub(crate) struct Frame {
    pub(crate) file: String,
    pub(crate) function: String,
}

/// Where code comes from, and how types are made.
pub(crate) struct Source<'a> {
    lines: addr2line::Context<Slice<'a>>,
    dwarf: gimli::Dwarf<Slice<'a>>,
}

impl<'a> Source<'a> {
    /// The part of the stack that the instruction at this address belongs to, if its place in the source tells.
    pub(crate) fn part(&self, address: u64) -> Option<Part> {
        let frames = self.frames(address);
        parts::of_chain(frames.iter().map(|frame| frame.file.as_str()))
    }

    /// The functions that were inlined into one another where this instruction is, the innermost first.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        if let Ok(mut frames) = self.lines.find_frames(address).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let file = frame
                    .location
                    .and_then(|location| location.file)
                    .unwrap_or_default();
                let function = frame
                    .function
                    .and_then(|name| name.raw_name().ok().map(|name| plain(&name)));
                found.push(Frame {
                    file: file.to_owned(),
                    function: function.unwrap_or_default(),
                });
            }
        }
        found
    }

    /// The fields of a struct, with the bytes that each takes: the last struct of this name in a namespace of that name.
    pub(crate) fn fields(&self, namespace: &str, name: &str) -> Result<Vec<(String, u64)>, Failure> {
        let mut units = self.dwarf.units();
        while let Some(header) = units.next().map_err(wrong)? {
            let unit = self.dwarf.unit(header).map_err(wrong)?;
            let mut tree = unit.entries_tree(None).map_err(wrong)?;
            let root = tree.root().map_err(wrong)?;
            if let Some(fields) = self.search(&unit, root, namespace, name, false).map_err(wrong)? {
                return Ok(fields);
            }
        }
        Err(Failure::Wrong(format!(
            "the image has no type {namespace}::{name}"
        )))
    }

    fn search(
        &self,
        unit: &gimli::Unit<Slice<'a>>,
        node: gimli::EntriesTreeNode<'_, '_, Slice<'a>>,
        namespace: &str,
        name: &str,
        inside: bool,
    ) -> Result<Option<Vec<(String, u64)>>, gimli::Error> {
        let (tag, own) = (node.entry().tag(), self.name(unit, node.entry())?);
        let found = inside && tag == gimli::DW_TAG_structure_type && own == name;
        if !found && tag != gimli::DW_TAG_namespace && tag != gimli::DW_TAG_compile_unit {
            return Ok(None);
        }
        let inside = tag == gimli::DW_TAG_namespace && own == namespace;
        let mut fields = Vec::new();
        let mut children = node.children();
        while let Some(child) = children.next()? {
            if found {
                if child.entry().tag() == gimli::DW_TAG_member {
                    let len = self.len_of_type(unit, child.entry())?;
                    fields.push((self.name(unit, child.entry())?, len));
                }
            } else if let Some(fields) = self.search(unit, child, namespace, name, inside)? {
                return Ok(Some(fields));
            }
        }
        Ok(found.then_some(fields))
    }

    fn name(
        &self,
        unit: &gimli::Unit<Slice<'a>>,
        entry: &gimli::DebuggingInformationEntry<Slice<'a>>,
    ) -> Result<String, gimli::Error> {
        match entry.attr_value(gimli::DW_AT_name) {
            Some(value) => Ok(self
                .dwarf
                .attr_string(unit, value)?
                .to_string_lossy()
                .into_owned()),
            None => Ok(String::new()),
        }
    }

    fn len_of_type(
        &self,
        unit: &gimli::Unit<Slice<'a>>,
        member: &gimli::DebuggingInformationEntry<Slice<'a>>,
    ) -> Result<u64, gimli::Error> {
        let Some(gimli::AttributeValue::UnitRef(offset)) = member.attr_value(gimli::DW_AT_type) else {
            return Ok(0);
        };
        let kind = unit.entry(offset)?;
        if let Some(len) = kind
            .attr_value(gimli::DW_AT_byte_size)
            .and_then(|value| value.udata_value())
        {
            return Ok(len);
        }
        // An array: its elements, counted.
        let mut tree = unit.entries_tree(Some(offset))?;
        let mut count = 1;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let counted = child
                .entry()
                .attr_value(gimli::DW_AT_count)
                .and_then(|value| value.udata_value());
            count *= counted.unwrap_or(1);
        }
        Ok(count * self.len_of_type(unit, &kind)?)
    }
}
