// Judges e-invoices by the XML schemas of their syntax and the official rules: those of CEN, KoSIT
// (XRechnung) and OpenPeppol, run by Saxon. Arguments: pairs of a name of rules (`cii`, `ubl`,
// `xrechnung-cii`, `xrechnung-ubl`, `peppol`) and a path. Prints `PATH RULE FLAG TEXT` for each rule that
// is broken.

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.transform.Source;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;
import net.sf.saxon.s9api.Axis;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.QName;
import net.sf.saxon.s9api.XdmDestination;
import net.sf.saxon.s9api.XdmNode;
import net.sf.saxon.s9api.XsltExecutable;
import org.xml.sax.SAXException;

public class Invoices {
    static final String RULES = "external/schematron/";
    static final String CII = RULES + "1.3.16/cii/EN16931-CII-validation.xslt";
    static final String UBL = RULES + "1.3.16/ubl/EN16931-UBL-validation.xslt";
    static final Map<String, List<String>> SHEETS = Map.of(
        "cii", List.of(CII),
        "ubl", List.of(UBL),
        "xrechnung-cii", List.of(CII, RULES + "3.0.2/XRechnung-CII-validation.xslt"),
        "xrechnung-ubl", List.of(UBL, RULES + "3.0.2/XRechnung-UBL-validation.xslt"),
        "peppol", List.of(UBL, RULES + "openpeppol/2026.5/xslt/PEPPOL-EN16931-UBL.xslt"));

    // What the schemas of UBL import without saying where it is.
    static final List<String> SHARED_SCHEMAS = List.of(
        "schemas/xml.xsd",
        "schemas/CCTS_CCT_SchemaModule.xsd",
        "schemas/xmldsig-core-schema.xsd",
        "schemas/XAdES01903v132-201601.xsd",
        "schemas/XAdES01903v141-201601.xsd");

    final Processor processor = new Processor(false);
    final Map<String, XsltExecutable> sheets = new HashMap<>();
    final Map<String, Schema> schemas = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        var judge = new Invoices();
        for (int index = 0; index < arguments.length; index += 2) {
            judge.judge(arguments[index], arguments[index + 1]);
        }
    }

    void judge(String rules, String path) throws Exception {
        var document = processor.newDocumentBuilder().build(new File(path));
        try {
            schema(document).newValidator().validate(new StreamSource(new File(path)));
        } catch (SAXException error) {
            System.out.println(path + " schema fatal " + error.getMessage());
        }
        for (String name : SHEETS.get(rules)) {
            var transformer = sheet(name).load30();
            var report = new XdmDestination();
            transformer.setGlobalContextItem(document);
            transformer.applyTemplates(document, report);
            print(path, report.getXdmNode());
        }
    }

    XsltExecutable sheet(String name) throws Exception {
        if (!sheets.containsKey(name)) {
            sheets.put(name, processor.newXsltCompiler().compile(source(name)));
        }
        return sheets.get(name);
    }

    static StreamSource source(String name) throws Exception {
        var resource = Invoices.class.getClassLoader().getResource(name);
        return new StreamSource(resource.openStream(), resource.toString());
    }

    Schema schema(XdmNode document) throws Exception {
        var root = document.axisIterator(Axis.CHILD).next().getNodeName();
        var name = switch (root.getLocalName()) {
            case "CrossIndustryInvoice" -> "external/schemas/d16b/data/standard/CrossIndustryInvoice_100pD16B.xsd";
            default -> "external/schemas/ubl21/maindoc/UBL-" + root.getLocalName() + "-2.1.xsd";
        };
        if (!schemas.containsKey(name)) {
            var sources = new ArrayList<Source>();
            for (String part : SHARED_SCHEMAS) {
                sources.add(source(part));
            }
            sources.add(source(name));
            var factory = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
            schemas.put(name, factory.newSchema(sources.toArray(Source[]::new)));
        }
        return schemas.get(name);
    }

    void print(String path, XdmNode report) throws Exception {
        var xpath = processor.newXPathCompiler();
        xpath.declareNamespace("svrl", "http://purl.oclc.org/dsdl/svrl");
        for (var item : xpath.evaluate("//svrl:failed-assert | //svrl:successful-report", report)) {
            var node = (XdmNode) item;
            var text = node.getStringValue().strip().replaceAll("\\s+", " ");
            System.out.println(path + " " + node.getAttributeValue(new QName("id")) + " "
                + node.getAttributeValue(new QName("flag")) + " " + text);
        }
    }
}
