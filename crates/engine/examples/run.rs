use platen_engine::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let engine = Engine::new(&FontSettings::default());
    let t = engine.compile(&std::fs::read(format!("examples/{}/template.json", a[1])).unwrap());
    let t = match t {
        Ok(t) => t,
        Err(Error::Mistakes(m)) => {
            for x in m {
                println!("{x}");
            }
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let raw = std::fs::read(format!("examples/{}/data.json", a[1])).unwrap();
    let n: usize = a.get(3).map_or(1, |s| s.parse().unwrap());
    for f in a[2].split(',') {
        let format: Format = f.parse().unwrap();
        let o = RenderOptions {
            now_unix_seconds: Some(1795219200),
            ..Default::default()
        };
        let mut best: Vec<f64> = vec![];
        let mut last = None;
        let mut totals = vec![];
        for _ in 0..n {
            let start = std::time::Instant::now();
            let data: serde_json::Value = serde_json::from_slice(&raw).unwrap();
            let parse = start.elapsed().as_secs_f64() * 1e3;
            match engine.render(&t, &data, format, &o) {
                Ok(r) => {
                    totals.push(start.elapsed().as_secs_f64() * 1e3);
                    let mut s: Vec<f64> = vec![parse];
                    s.extend(r.stages.iter().map(|s| s.duration.as_secs_f64() * 1e3));
                    if best.is_empty() {
                        best = s
                    } else {
                        for (b, s) in best.iter_mut().zip(s) {
                            *b = b.min(s)
                        }
                    }
                    last = Some(r);
                }
                Err(Error::Mistakes(m)) => {
                    for x in m {
                        println!("{x}");
                    }
                    return;
                }
                Err(e) => {
                    println!("{e} {e:?}");
                    return;
                }
            }
        }
        let r = last.unwrap();
        totals.sort_by(f64::total_cmp);
        std::fs::write(format!("/tmp/{}.{f}", a[1]), &r.bytes).unwrap();
        println!(
            "{f}: {} bytes pages {:?} median {:.2} min stages {:.2?}",
            r.bytes.len(),
            r.pages,
            totals[totals.len() / 2],
            best
        );
        for w in r.warnings.iter().take(5) {
            println!("  {w}");
        }
    }
}
